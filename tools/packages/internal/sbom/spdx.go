package sbom

// The words of SPDX 2.3's JSON.
type (
	document struct {
		ID           string       `json:"SPDXID"`
		Version      string       `json:"spdxVersion"`
		CreationInfo creationInfo `json:"creationInfo"`
		DataLicense  string       `json:"dataLicense"`
		Name         string       `json:"name"`
		Namespace    string       `json:"documentNamespace"`
		Packages     []component  `json:"packages"`
		Relations    []relation   `json:"relationships"`
	}

	creationInfo struct {
		Created  string   `json:"created"`
		Creators []string `json:"creators"`
	}

	component struct {
		ID         string      `json:"SPDXID"`
		Name       string      `json:"name"`
		Version    string      `json:"versionInfo"`
		Supplier   string      `json:"supplier,omitempty"`
		Purpose    string      `json:"primaryPackagePurpose"`
		Source     string      `json:"sourceInfo,omitempty"`
		Download   string      `json:"downloadLocation"`
		Analyzed   bool        `json:"filesAnalyzed"`
		Checksums  []checksum  `json:"checksums,omitempty"`
		Concluded  string      `json:"licenseConcluded"`
		Declared   string      `json:"licenseDeclared"`
		Copyright  string      `json:"copyrightText"`
		References []reference `json:"externalRefs,omitempty"`
	}

	checksum struct {
		Algorithm string `json:"algorithm"`
		Value     string `json:"checksumValue"`
	}

	reference struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}

	relation struct {
		Of   string `json:"spdxElementId"`
		Type string `json:"relationshipType"`
		To   string `json:"relatedSpdxElement"`
	}
)

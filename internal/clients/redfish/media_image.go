package redfish

// An Image is what is put into a drive.
type Image struct {
	// URL that the BMC fetches it from.
	URL string
	// Protect keeps the machine from writing to it.
	Protect bool
	// Username and Password for the image's server; "" is none.
	Username, Password string
}

// String is the image without what only its server must know.
func (i Image) String() string { return PlainImage(i.URL) }

// GoString implements fmt.GoStringer.
func (i Image) GoString() string { return i.String() }

// with adds the account to a body that names the image (Redfish schema
// VirtualMedia v1.x, UserName and Password).
func (i Image) with(body map[string]any) map[string]any {
	if i.Username != "" {
		body["UserName"], body["Password"] = i.Username, i.Password
	}

	return body
}

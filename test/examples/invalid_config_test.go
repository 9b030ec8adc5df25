package examples_test

import "testing"

func TestInvalidConfig(t *testing.T) {
	netbox := func(reason, edit, want string) refusal {
		return of("ClusterProviderConfig", reason, `{spec: {netbox: `+edit+`}}`, want)
	}
	bmc := func(reason, edit, want string) refusal {
		return of("ProviderConfig", reason, `{spec: `+edit+`}`, want)
	}
	refuse(t, map[string]refusal{
		"Push":         bmc("a BMC must be told where to", `{redfish: {events: {delivery: Push}}}`, "receiverURL is where BMCs reach the provider: set it with delivery: Push"),
		"Receiver":     bmc("and nobody would send anything there", `{redfish: {events: {delivery: Auto, receiverURL: "https://r.example/"}}}`, "receiverURL is where BMCs reach the provider"),
		"ReceiverURL":  bmc("its path and secret come behind it", `{redfish: {events: {delivery: Push, receiverURL: "https://u:p@r.example/?a=b"}}}`, "receiverURL"),
		"BMCTimeout":   bmc("a BMC needs some time", `{redfish: {requestTimeout: 3m}}`, "requestTimeout must be a duration from 1s to 2m"),
		"SSL":          bmc("nothing older than TLS", `{redfish: {tls: {minVersion: SSL3}}}`, `Unsupported value: "SSL3"`),
		"Interval":     bmc("an inventory is a hundred requests", `{redfish: {inventoryInterval: 1m}}`, "inventoryInterval must be a duration of 10m at least"),
		"IntervalDays": bmc("Go knows no days", `{redfish: {inventoryInterval: 1d}}`, "inventoryInterval must be a duration"),
		"QuirkOfAll":   bmc("a quirk is of some machines", `{redfish: {quirks: [{name: a, match: {}, facts: {mode: Never}}]}}`, "should have at least 1 properties"),
		"QuirkOfNone":  bmc("and says something", `{redfish: {quirks: [{name: a, match: {model: x}, facts: {}}]}}`, "should have at least 1 properties"),
		"QuirkWord":    bmc("in words that are known", `{redfish: {quirks: [{name: a, match: {model: x}, facts: {mode: Always}}]}}`, `Unsupported value: "Always"`),
		"FirstUse": netbox("trust on first use needs a place for the pin",
			`{tls: {verify: TrustOnFirstUse, pinnedSHA256: null}}`, "verify: TrustOnFirstUse is not supported yet for a NetBox"),
		"PinsUnused": netbox("a pin that wouldn't be looked at is not taken",
			`{tls: {verify: System}}`, "pinnedSHA256 counts only with verify: Pinned or TrustOnFirstUse"),
		"BundleUnused": netbox("nor is an authority",
			`{tls: {verify: System, pinnedSHA256: null, caBundle: x}}`, "caBundle counts only with verify: CABundle"),
		"NoBundle":  netbox("an authority is given", `{tls: {verify: CABundle, pinnedSHA256: null}}`, "caBundle must be set when verify is CABundle"),
		"NoPin":     netbox("a pin is given", `{tls: {verify: Pinned, pinnedSHA256: []}}`, "pinnedSHA256 must be set when verify is Pinned"),
		"Prefix":    netbox("a policy's prefixes are CIDRs", `{policies: [{namespaces: [a], prefixes: [10.78.0.0]}]}`, "prefixes must be CIDRs"),
		"URLUser":   netbox("a password isn't written into a URL", `{url: "https://u:p@x.example/"}`, "url must be without user, password, query and fragment"),
		"URLQuery":  netbox("what is asked for comes behind it", `{url: "https://x.example/?a=b"}`, "url must be without user, password, query and fragment"),
		"URLPart":   netbox("a URL of an API has no fragment", `{url: "https://x.example/#a"}`, "url must be without user, password, query and fragment"),
		"URLHost":   netbox("NetBox is somewhere", `{url: "https:///x"}`, "url must be an http or https URL"),
		"Zone":      netbox("a zone is a DNS name", `{policies: [{namespaces: [a], dnsZones: ["not a zone"]}]}`, "dnsZones"),
		"NoZone":    netbox("and has one", `{policies: [{namespaces: [a], dnsZones: [""]}]}`, "dnsZones"),
		"URL":       netbox("NetBox speaks HTTP", `{url: "ftp://x.example"}`, "url must be an http or https URL"),
		"Namespace": netbox("a cluster's config names the Secret's namespace", `{credentials: {secretRef: {namespace: null}}}`, "credentials.secretRef.namespace must be set"),
		"Proxy":     netbox("a proxy speaks HTTP, too", `{proxyURL: "socks5://p.example:1080"}`, "proxyURL must be an http or https URL"),
		"ProxyUser": netbox("a password isn't written into a config", `{proxyURL: "http://u:p@p.example:3128"}`, "without a password"),
		"Timeout":   netbox("a minute is what a look has altogether", `{timeout: 60s}`, "timeout must be of 1s to 55s"),
		"NoTime":    netbox("nothing is answered in no time", `{timeout: 0s}`, "timeout must be of 1s to 55s"),
		"Hook":      netbox("a cluster's config names the namespace of each Secret", `{webhook: {secretRef: {name: x}}}`, "netbox.webhook.secretRef.namespace must be set"),
		"Same": of("ClusterProviderConfig", "a cluster's config is in no namespace",
			`{spec: {allowedNamespaces: {from: Same}}}`, "allowedNamespaces.from: Same is nobody's"),
		"Others":    bmc("a ProviderConfig is its namespace's", `{allowedNamespaces: {from: All}}`, "a ProviderConfig serves its own namespace alone"),
		"Neither":   bmc("a config is of something", `{redfish: null}`, "exactly one of netbox and redfish must be set"),
		"Addresses": bmc("a password is sent to named places alone", `{redfish: {allowedAddresses: []}}`, "should have at least 1 items"),
		"Address":   bmc("which are CIDRs", `{redfish: {allowedAddresses: [10.0.9.1]}}`, "allowedAddresses must be CIDRs"),
		"Source":    bmc("credentials are in Secrets", `{redfish: {credentials: {source: Environment}}}`, `Unsupported value: "Environment"`),
	})
}

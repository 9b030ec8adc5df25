package quirk

// bootRows are about boot sources: where an override is written, and with what.
func bootRows() []Row {
	const futureState = "AMI moved boot settings to Systems/<id>/SD and answers OperationSupportedInFutureStateURI elsewhere (openstack/sushy, settings-nokia.json; DMTF/Redfish-Tacklebox#144)"

	return []Row{
		{
			Name: "supermicro-mode", Match: Match{Manufacturer: "Supermicro*"}, Facts: Facts{Mode: IfPresent},
			Source: "goes back to its default mode with every override that comes without one, by design (DMTF/Redfishtool#106)",
		},
		{Name: "nokia-sd", Match: Match{Vendor: "Nokia*"}, Facts: Facts{OverrideOn: OnSD}, Source: futureState},
		{Name: "nokia-sd-system", Match: Match{Manufacturer: "Nokia*"}, Facts: Facts{OverrideOn: OnSD}, Source: futureState},
	}
}

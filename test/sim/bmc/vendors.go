package bmc

import (
	"net/http"
	"strings"
	"time"
)

// vendor is a row: whose BMCs behave so. What differs and who says so is in
// the comment at each; more in the documentation of the vendors.
type vendor struct {
	Behaviour

	fits func(facts) bool
}

// conflict is iDRAC's and the standard's answer to a power action for a state
// that is there already.
const conflict = http.StatusConflict

// vendors are tried from top to bottom.
func vendors() []vendor {
	var out []vendor
	for _, rows := range [][]vendor{openBMC(), dell(), hpe(), lenovo(), supermicro(), others()} {
		out = append(out, rows...)
	}

	return out
}

// dell: a redundant power action is a conflict with a message of its own
// (NVIDIA/libredfish, network.rs); a mode is a BIOS job, and BIOS attributes
// want one (openstack/sushy's story-2006246); an iDRAC has eight sessions, and
// 13G no sessions below SessionService.
func dell() []vendor {
	row := Behaviour{
		Name: "Dell iDRAC9", Mode: ModeAtBoot, Redundant: conflict, Done: http.StatusOK, Sessions: 8,
		SessionTimeout: 30 * time.Minute, Registry: "Base.1.12", Code: "Base.1.12.GeneralError", BIOSJob: true, OEMBoot: idracBoot(),
		Says: map[string]string{"NoOperation": "IDRAC.2.7.PSU501", "SessionLimitExceeded": "IDRAC.2.7.RAC0218", msgInUse: "IDRAC.2.7.SYS011"},
	}
	old := row
	old.Name, old.Registry, old.Mode = "Dell iDRAC8", "Base.1.0", ModeOptional
	old.Says = map[string]string{"NoOperation": "IDRAC.1.6.PSU501", "SessionLimitExceeded": "IDRAC.1.6.RAC0218"}
	next := row
	// openstack/sushy's release note idrac10-settings-resource.
	next.Name, next.OverrideAt = "Dell iDRAC10", AtSettings
	isDell := func(f facts) bool {
		return strings.Contains(f.vendor, "dell") || strings.Contains(f.oem, "dell") || strings.Contains(f.maker, "dell")
	}

	return []vendor{
		{old, func(f facts) bool { return strings.HasPrefix(f.manager, "13g") }},
		{next, func(f facts) bool { return isDell(f) && strings.HasPrefix(f.manager, "17g") }},
		{row, isDell},
	}
}

// hpe: iLO refuses a power action that follows another too soon with 400
// (openstack/sushy's release note retry-ilo-not-ready-error) in the same words
// as one for a state that is there; it redirects to its own spelling of a path;
// it wants a body to eject an image; DL160 Gen10 takes no mode beside an
// override (bmc-toolbox/bmclib).
func hpe() []vendor {
	row := Behaviour{
		Name: "HPE iLO", Redundant: http.StatusBadRequest, TooSoon: 5 * time.Second, Done: http.StatusOK, Redirect: true, EjectBody: true,
		Registry: "Base.1.17", Code: "iLO.0.10.ExtendedInfo", Says: map[string]string{
			"NoOperation": "iLO.2.23.InvalidOperationForSystemState", msgInUse: "iLO.2.23.InvalidOperationForSystemState",
			"PreconditionFailed": "iLO.2.23.ETagMismatch",
		},
	}
	small := row
	small.Name, small.Mode = "HPE DL160", ModeAlone
	// Node controllers: ForceOff beside Off, which the schema hasn't, and
	// nothing to override a boot with but the order.
	cray := Behaviour{Name: "HPE Cray", OverrideAt: Nowhere, Redundant: conflict, Registry: "Base.1.4"}
	isHPE := func(f facts) bool {
		return strings.HasPrefix(f.vendor, "hpe") || strings.Contains(f.oem, "hpe") || f.maker == "hpe"
	}

	return []vendor{
		{cray, func(f facts) bool { return strings.Contains(f.model, "cray") }},
		{small, func(f facts) bool { return isHPE(f) && strings.Contains(f.model, "dl160") }},
		{row, isHPE},
	}
}

// lenovo: XCC answers a redundant power action with 204 (NVIDIA/libredfish) and
// stages BIOS attributes for the next reset without being told when, which it
// refuses; SR675 V3 hangs at ForceRestart; 16 sessions.
func lenovo() []vendor {
	row := Behaviour{Name: "Lenovo XCC", Done: http.StatusOK, Sessions: 16, SessionTimeout: 5 * time.Minute, Registry: "Base.1.12", NoApplyTime: true}
	hangs := row
	hangs.Name, hangs.RestartHangs = "Lenovo SR675 V3", true
	is := func(f facts) bool { return f.vendor == "lenovo" || f.maker == "lenovo" }

	return []vendor{
		{hangs, func(f facts) bool { return is(f) && strings.Contains(f.model, "sr675") }},
		{row, is},
	}
}

// supermicro: X11 and later store Pxe as UefiBootNext; X12 lists two reset
// types glued together, and takes both; some versions are spelt with
// underscores (NVIDIA/infra-controller's logs); X10 has neither mode nor ETags.
func supermicro() []vendor {
	row := Behaviour{
		Name: "Supermicro", StoredAs: map[string]string{"Pxe": "UefiBootNext"}, SessionTimeout: 5 * time.Minute, Registry: "Base.1.10", Code: "Base.v1_10_3.GeneralError",
		Says:       map[string]string{msgInUse: "SMC.v1_0_0.OemBiosSettingFileAlreadyExists"},
		ResetTypes: []string{resetShutdown, resetGraceful},
	}
	x10 := Behaviour{Name: "Supermicro X10", IfMatch: IfMatchIgnored, Redundant: conflict, Registry: "Base.1.0"}
	is := func(f facts) bool {
		return strings.Contains(f.vendor, "supermicro") || strings.Contains(f.oem, "supermicro") || f.maker == "supermicro"
	}

	return []vendor{
		{x10, func(f facts) bool { return is(f) && !strings.Contains(f.oem, "supermicro") && f.vendor == "" }},
		{row, is},
	}
}

// openBMC takes a redundant power action, tells no ETags and asks for none. It
// takes an override at the settings resource where it has one, as NVIDIA's
// hosts do (NVIDIA/libredfish, nvidia_gh200.rs, nvidia_gbx00.rs, nvidia_dpu.rs).
// BlueField's lists other targets than the one it rests at.
func openBMC() []vendor {
	row := Behaviour{
		Name: "OpenBMC", OverrideAt: AtSettings, IfMatch: IfMatchIgnored, SessionTimeout: 30 * time.Minute, Registry: "Base.1.16.0",
	}
	dpu := row
	dpu.Name, dpu.TargetsOfBoth = "NVIDIA BlueField", true
	is := func(f facts) bool { return strings.HasPrefix(f.manager, "openbmc") }

	return []vendor{
		{dpu, func(f facts) bool { return is(f) && strings.Contains(f.model, "bluefield") }},
		{row, is},
	}
}

// others: AMI wants an If-Match with every PATCH and drops required fields of
// expanded members (NVIDIA/nv-redfish, bmc_quirks.rs); so does Huawei, which
// tells ETags in the header only (IamFive/python-ibmcclient); Fujitsu has its
// own words for nearly everything (fujitsu/terraform-provider-irmc-redfish);
// Nokia takes an override at SD, which it doesn't link.
func others() []vendor {
	standard := func(name string) Behaviour {
		return Behaviour{Name: name, IfMatch: IfMatchRequired, Redundant: conflict, Registry: "Base.1.5"}
	}
	ami, huawei, fujitsu, nokia := standard("AMI"), standard("Huawei iBMC"), standard("Fujitsu iRMC"), standard("Nokia")
	ami.ExpandDrops, ami.NoIfMatchOnActions = []string{"@odata.etag", "Name"}, true
	huawei.ETags, huawei.ResetTypes = ETagsInHeader, standardResets()
	fujitsu.OverrideAt, fujitsu.ResetParameter, fujitsu.OEMBoot = Nowhere, "FTSResetType", irmcBoot()
	nokia.OverrideAt, nokia.MediaProtocol = AtSD, true

	return []vendor{
		{huawei, func(f facts) bool { return strings.Contains(f.oem, "huawei") || f.maker == "huawei" }},
		{fujitsu, func(f facts) bool {
			return strings.Contains(f.oem+f.maker, "fujitsu") || strings.Contains(f.oem+f.maker, "fsas")
		}},
		{nokia, func(f facts) bool { return strings.Contains(f.vendor, "nokia") || strings.Contains(f.maker, "nokia") }},
		{ami, func(f facts) bool { return f.vendor == "ami" }},
	}
}

package redfishhost

import (
	"encoding/json"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// recordOf reads a host's record, and says whether there is one. What an older
// version took for a serial number, and isn't one, is left out.
func recordOf(host *v1alpha1.RedfishHost) (v1alpha1.IdentityRecord, bool) {
	var r v1alpha1.IdentityRecord
	err := json.Unmarshal([]byte(host.GetAnnotations()[v1alpha1.AnnotationIdentity]), &r)
	r.Serial, r.ChassisSerial = redfish.CleanSerial(r.Serial), redfish.CleanSerial(r.ChassisSerial)

	return r, err == nil && r.URI != ""
}

// nameless says whether a machine had neither serial nor UUID.
func nameless(r v1alpha1.IdentityRecord) bool { return r.Serial == "" && r.UUID == "" }

// tracesFor is what is read of a machine besides its own words: all there is
// before it is recorded; then, where it has no name, what decides, and where its
// own words disagree, or are missing, all that is known.
func tracesFor(r v1alpha1.IdentityRecord, recorded bool, i redfish.Identity) redfish.Traces {
	switch {
	case !recorded, nameless(r) && r.ChassisSerial == "" && r.BMCUUID == "":
		return redfish.Traces{Chassis: true, BMC: true}
	case unsaid(r, i), reissued(r, i):
		return redfish.Traces{Chassis: r.ChassisSerial != "", Serial: r.ChassisSerial, BMC: r.BMCUUID != ""}
	case !nameless(r):
		return redfish.Traces{}
	case r.ChassisSerial != "":
		return redfish.Traces{Chassis: true, Serial: r.ChassisSerial}
	default:
		return redfish.Traces{BMC: true}
	}
}

// unsaid says whether the recorded serial isn't told just now.
func unsaid(r v1alpha1.IdentityRecord, i redfish.Identity) bool {
	return r.Serial != "" && i.Serial == ""
}

// reissued says whether a machine has its old serial and another UUID. Some have
// one that is lent (Cisco's pools), or made of a NIC's MAC address.
func reissued(r v1alpha1.IdentityRecord, i redfish.Identity) bool {
	return r.Serial != "" && strings.EqualFold(r.Serial, i.Serial) && differ(r.UUID, i.UUID, redfish.SameUUID)
}

// excused says whether a UUID that was reissued is no other machine's: the same
// BMC says so, or the same chassis. That of several nodes, whose serial theirs
// is, says nothing.
func excused(r v1alpha1.IdentityRecord, i redfish.Identity) bool {
	sameBMC := r.BMCUUID != "" && redfish.SameUUID(r.BMCUUID, i.BMCUUID)
	sameChassis := r.ChassisSerial != "" && strings.EqualFold(r.ChassisSerial, i.ChassisSerial) && !strings.EqualFold(r.ChassisSerial, r.Serial)

	return reissued(r, i) && strings.EqualFold(r.URI, i.URI) && (sameBMC || sameChassis)
}

// vouched is what a machine says of itself, with the recorded serial where it
// doesn't tell it just now but its UUID says that it's the same, and its BMC
// says nothing else. Some BMCs know the serial only once the machine was on, so
// that who waited for it before switching it on would wait for ever.
func vouched(r v1alpha1.IdentityRecord, i redfish.Identity) redfish.Identity {
	sameUUID := r.UUID != "" && redfish.SameUUID(r.UUID, i.UUID)
	sameBMC := r.BMCUUID == "" || redfish.SameUUID(r.BMCUUID, i.BMCUUID)
	if unsaid(r, i) && sameUUID && sameBMC && strings.EqualFold(r.URI, i.URI) {
		i.Serial = r.Serial
	}

	return i
}

// completed is a record with what it doesn't say yet. What it says stays.
func completed(r v1alpha1.IdentityRecord, s redfish.System) v1alpha1.IdentityRecord {
	r.URI = or(r.URI, s.URI)
	r.Serial, r.UUID = or(r.Serial, s.Serial), or(r.UUID, s.UUID)
	r.ChassisSerial, r.BMCUUID = or(r.ChassisSerial, s.ChassisSerial), or(r.BMCUUID, s.BMCUUID)
	if r.Systems == 0 {
		r.Systems = s.Sharing
	}

	return r
}

// differ says whether both are known and not the same.
func differ(a, b string, same func(a, b string) bool) bool {
	return a != "" && b != "" && !same(a, b)
}

// contradiction says by which name a record knows its machine, and by which one
// it is another: both "" where they are the same as far as anybody knows.
func contradiction(r v1alpha1.IdentityRecord, i redfish.Identity) (was, is string) {
	switch {
	case differ(r.Serial, i.Serial, strings.EqualFold):
		return r.Serial, i.Serial
	case differ(r.UUID, i.UUID, redfish.SameUUID) && !excused(r, i):
		return r.UUID, i.UUID
	case r.Systems > 1 && !strings.EqualFold(r.URI, i.URI):
		return r.URI, i.URI
	case nameless(r) && differ(r.ChassisSerial, i.ChassisSerial, strings.EqualFold):
		return r.ChassisSerial, i.ChassisSerial
	case nameless(r) && r.ChassisSerial == "" && differ(r.BMCUUID, i.BMCUUID, redfish.SameUUID):
		return r.BMCUUID, i.BMCUUID
	default:
		return "", ""
	}
}

// mute names what decides about a machine and isn't told just now, or is "".
func mute(r v1alpha1.IdentityRecord, i redfish.Identity) string {
	switch {
	case unsaid(r, i):
		return "serial number"
	case r.Serial == "" && r.UUID != "" && i.UUID == "":
		return "UUID"
	case nameless(r) && r.ChassisSerial != "" && i.ChassisSerial == "":
		return "chassis' serial number"
	case nameless(r) && r.ChassisSerial == "" && r.BMCUUID != "" && i.BMCUUID == "":
		return "BMC's UUID"
	default:
		return ""
	}
}

package netboxipaddress

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/netboxlink"
)

// NetBox is what an address needs of its NetBox; netbox.Client implements it.
type NetBox interface {
	Reader
	Writer
	Assigner
	Historian
	Explainer
	Dater
}

// Sources are where addresses come from.
type Sources interface {
	FindPrefix(ctx context.Context, cidr string, vrf netbox.VRFRef) (netbox.Parent, error)
	FindPrefixes(ctx context.Context, f netbox.Filter) ([]netbox.Parent, error)
	GetPrefix(ctx context.Context, number int64) (netbox.Parent, error)
	FindRange(ctx context.Context, start string, vrf netbox.VRFRef) (netbox.Parent, error)
	FindRanges(ctx context.Context, f netbox.Filter) ([]netbox.Parent, error)
	GetRange(ctx context.Context, number int64) (netbox.Parent, error)
	FindAround(ctx context.Context, a netip.Addr, vrf netbox.VRFRef) (netbox.Parent, error)
	FindVRF(ctx context.Context, ref netbox.VRFRef) (netbox.VRF, error)
	Usage(ctx context.Context, p netbox.Parent) (netbox.Usage, error)
}

// Reader is what Observe uses.
type Reader interface {
	Sources
	Preflight(ctx context.Context) (netbox.Preflight, error)
	Get(ctx context.Context, number int64) (netbox.IPAddress, error)
	Seen(ctx context.Context, number int64, maxAge time.Duration) (ip netbox.IPAddress, ok bool, err error)
	Displaced(by netbox.IPAddress) (was netbox.IPAddress, ok bool)
	FindByMarker(ctx context.Context, marker string) (netbox.IPAddress, error)
	Hides(ctx context.Context, marker, nobodys string, fields map[string]any) (bool, error)
	FindHost(ctx context.Context, address netip.Addr, vrf *netbox.VRF) ([]netbox.IPAddress, error)
}

// Writer is what Create, Update and Delete use.
type Writer interface {
	CreateMarkerField(ctx context.Context) error
	Allocate(ctx context.Context, p netbox.Parent, r netbox.Request) (netbox.IPAddress, error)
	Create(ctx context.Context, address netip.Prefix, vrf *netbox.VRF, r netbox.Request) (netbox.IPAddress, error)
	Patch(ctx context.Context, ip netbox.IPAddress, p netbox.Patch) (netbox.IPAddress, error)
	Adopt(ctx context.Context, ip netbox.IPAddress, marker string, p netbox.Patch) (netbox.IPAddress, error)
	EnsureReleaseField(ctx context.Context) error
	Release(ctx context.Context, ip netbox.IPAddress, r netbox.Release) error
	Delete(ctx context.Context, ip netbox.IPAddress, marker string) error
}

// ResolveFn finds the NetBox settings and token that an address may use, and records the use.
type ResolveFn func(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (config.NetBox, error)

// ClientFn returns the connection of a provider config, with these settings.
type ClientFn func(of config.Identity, cfg netbox.Config) (NetBox, error)

// Tally counts what isn't a request; netboxlink.Metrics implements it.
type Tally interface {
	// Retried says that an address is asked for again, after that has failed.
	Retried(of config.Ref)
	// Drifted says that somebody had changed a record, and what was done about it: Corrected or Reported.
	Drifted(of config.Ref, action string)
}

type noTally struct{}

// Retried counts nothing.
func (noTally) Retried(config.Ref) {}

// Drifted counts nothing.
func (noTally) Drifted(config.Ref, string) {}

// Options of the connector. Resolve, Client and ClusterID must be set.
type Options struct {
	// Resolve finds an address's NetBox settings.
	Resolve ResolveFn
	// Client returns connections.
	Client ClientFn
	// Saw is told which version the NetBox of a provider config is; nil isn't told.
	Saw func(of config.Identity, version string)
	// Kube reads the hosts that assignments name.
	Kube client.Reader
	// Live reads addresses past any cache; nil is Kube.
	Live client.Reader
	// Holders are the addresses whose status says that they have one, whatever its mask and table (HostOf); a cache is welcome. Nil finds none.
	Holders func(ctx context.Context, address netip.Addr) ([]v1alpha1.NetBoxIPAddress, error)
	// Recorder is told what was taken and given up, what was changed by others in NetBox, of adoptions, losses, and what became of released addresses; nil tells nobody.
	Recorder event.Recorder
	// Warn tells the owner of a provider config what he should know before it's trouble; nil isn't told.
	Warn func(of config.Identity, message string)
	// Tally counts what isn't a request; nil counts nothing.
	Tally Tally
	// ClusterID is the first part of every marker.
	ClusterID string
	// Failpoint is called with "netbox-after-post" between a record's creation or adoption and its recording, and with
	// "netbox-after-unseat" between the two halves of a quarantine; nil does nothing.
	Failpoint func(name string)
	// Due is told until when a record is in quarantine; nil isn't told.
	Due func(until time.Time)
	// Again has a resource looked at then; nil leaves that to its retries.
	Again func(name types.NamespacedName, at time.Time)
	// MaxAge is how old what is known of a record may be for it to be left alone; 0 reads each record at each look.
	MaxAge time.Duration
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Outstanding is how long after it was given up a POST may still be carried out; 0 is 1 min. Asking is how long after its Create began it
	// isn't given up, at least, and has been by one that was killed; 0 is 2 min.
	Outstanding, Asking time.Duration
	// Names is how long it may take to find out who changed a record, for which what is done about it waits; 0 is 5 s.
	Names time.Duration
	// Hidden is how long after it was made a record isn't believed not to be there, whatever a read says; 0 is 10 s.
	Hidden time.Duration
}

// A Connector makes the external client of an address.
type Connector struct {
	Options

	// tried are those whose last Create failed, whatever of.
	tried *notes[bool]
	// origins say where addresses were just taken from, until status does: Create can't.
	origins *notes[origin]
	// stocks are what is known of sources.
	stocks *stocks
	// made is what Create made, until status says so.
	made *notes[v1alpha1.NetBoxIPAddressObservation]
	// unanswered is when the latest POST of a resource that got no answer was given up, and came what was asked for last by those whose record
	// was found. ahead is when a time was first seen that has yet to come, or isn't written down any more.
	unanswered *notes[time.Time]
	came       *notes[string]
	ahead      *notes[sight]
	// answered is the record that NetBox gave a resource in answer to its POST, where it's another one's address and couldn't be set aside yet.
	answered *notes[int64]
	// absences are those that were found to have no record.
	absences *notes[absence]
	// deleted are resources whose record NetBox has just deleted.
	deleted *notes[bool]
	// unkept are the updates that NetBox accepted and didn't keep, and refusals what it refused to make or to change.
	unkept   *failures
	refusals *notes[refusal]
	// spurned are the sources of which NetBox refused a resource an address, each with why.
	spurned *notes[map[stockKey]refusal]
	// sent are the changes that were sent to NetBox since a look last found nothing to do.
	sent *notes[[]netbox.Patch]
	// undone are somebody's changes that were to be put right when NetBox refused that.
	undone *notes[[]v1alpha1.FieldDrift]
	// bare are those whose record came back without all that spec asks for, since NetBox refused that: nobody changed it there.
	bare *notes[bool]
	// losses, standings of records that stay moved, disputes and verdicts are believed for a while, and so is of those that are unplaced why
	// they have no interface, and of those that are ungiven why they haven't the address that they name.
	losses    *failures
	standings *notes[stay]
	disputes  *notes[dispute]
	verdicts  *notes[verdict]
	unplaced  *failures
	ungiven   *failures
	// displaced are those whose address another one was just given: what was seen of their record is of before.
	displaced *notes[bool]
	// formers had an address that another one was given, by that address: they outlive whoever was given it.
	formers *notes[former]
	// behind is since when NetBox's log has a record of an address that isn't there, and doubted since when it couldn't be told of those whose record
	// isn't shown whether it's there.
	behind, doubted *notes[time.Time]
	// culprits are what was found out about records that are gone, missed what was told of them, and movers what was found out about those that were moved.
	culprits *notes[culprit]
	missed   *notes[missing]
	movers   *notes[mover]
	// rivals are since when another record of a given address is seen, which may go yet.
	rivals *notes[time.Time]
	// farewells are what is to be told of records that are being released, or was. told is the record that was told to be a resource's, and
	// warned what people were last warned of, by its reason. None of it is forgotten when the resource goes: a look may still come by a copy that
	// is behind.
	farewells *notes[farewell]
	// began is when this process did.
	began time.Time
	// unwired is when the interfaces of a provider config's NetBox couldn't be read.
	unwired *notes[time.Time]
	// looked is the last look that a person asked for of those whose interfaces are shown.
	looked *notes[string]
	told   *notes[int64]
	warned *notes[map[event.Reason]warning]
}

var _ managed.TypedExternalConnector[*v1alpha1.NetBoxIPAddress] = &Connector{}

// NewConnector makes a connector.
func NewConnector(o Options) *Connector {
	if o.Failpoint == nil {
		o.Failpoint = func(string) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Recorder == nil {
		o.Recorder = event.NewNopRecorder()
	}
	if o.Live == nil {
		o.Live = o.Kube
	}
	if o.Tally == nil {
		o.Tally = noTally{}
	}
	if o.Outstanding == 0 {
		o.Outstanding = outstandingFor
	}
	if o.Asking == 0 {
		o.Asking = askingFor
	}
	if o.Names == 0 {
		o.Names = namesFor
	}
	if o.Hidden == 0 {
		o.Hidden = hiddenFor
	}
	if o.Due == nil {
		o.Due = func(time.Time) {}
	}
	if o.Again == nil {
		o.Again = func(types.NamespacedName, time.Time) {}
	}
	if o.Saw == nil {
		o.Saw = func(config.Identity, string) {}
	}
	if o.Warn == nil {
		o.Warn = func(config.Identity, string) {}
	}
	return &Connector{
		Options: o, began: o.Now(), stocks: newStocks(o.Now),
		tried: newNotes[bool](), origins: newNotes[origin](), made: newNotes[v1alpha1.NetBoxIPAddressObservation](), deleted: newNotes[bool](),
		unanswered: newNotes[time.Time](), came: newNotes[string](), answered: newNotes[int64](), ahead: newNotes[sight](), absences: newNotes[absence](),
		unkept: newFailures(), refusals: newNotes[refusal](), spurned: newNotes[map[stockKey]refusal](), sent: newNotes[[]netbox.Patch](), undone: newNotes[[]v1alpha1.FieldDrift](), bare: newNotes[bool](), losses: newFailures(), unplaced: newFailures(), ungiven: newFailures(),
		standings: newCounted(func(s stay) types.UID { return s.of }), disputes: newCounted(func(d dispute) types.UID { return d.of }),
		verdicts:  newCounted(func(v verdict) types.UID { return v.of }),
		displaced: newNotes[bool](), formers: newNotes[former](), behind: newNotes[time.Time](), doubted: newNotes[time.Time](), culprits: newNotes[culprit](), missed: newNotes[missing](), movers: newNotes[mover](), rivals: newNotes[time.Time](),
		looked: newNotes[string](), unwired: newNotes[time.Time](), farewells: newNotesFor[farewell](tellingFor), told: newNotesFor[int64](tellingFor), warned: newNotesFor[map[event.Reason]warning](tellingFor),
	}
}

// forget a resource that is about to go.
func (c *Connector) forget(mg *v1alpha1.NetBoxIPAddress) {
	for _, all := range []interface{ forget(uid types.UID) }{
		c.tried, c.origins, c.made, c.unanswered, c.came, c.answered, c.ahead, c.absences, c.deleted, c.unkept, c.refusals, c.spurned, c.sent, c.undone, c.bare,
		c.losses, c.standings, c.disputes, c.verdicts, c.unplaced, c.ungiven, c.displaced, c.doubted, c.culprits, c.missed, c.movers, c.rivals, c.looked,
	} {
		all.forget(mg.GetUID())
	}
	c.stocks.leave(mg.GetUID())
}

// Connect resolves settings and token, and asks nothing of NetBox. A resource that is being deleted and for which nothing was ever
// asked needs neither: its provider config may be gone with its namespace.
func (c *Connector) Connect(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (managed.TypedExternalClient[*v1alpha1.NetBoxIPAddress], error) {
	e := &external{connector: c, us: identityOf(c.ClusterID, mg), dnsName: deref(mg.Spec.ForProvider.DNSName), named: mg.Spec.ForProvider.Adopt == v1alpha1.AdoptExternalName}
	e.held = holdingOf(mg, e.us)
	if untouched(mg) {
		c.forget(mg)
		return e, nil
	}
	cfg, err := c.Resolve(ctx, mg)
	if err == nil {
		// Who asks for a look wants more than what is believed. What he writes may be long.
		asked := sha256.Sum256([]byte(mg.GetAnnotations()[meta.AnnotationKeyReconcileRequestedAt]))
		e.settings = fmt.Sprintf("%d/%s/%d/%s/%.16x", mg.GetGeneration(), cfg.UID, cfg.Generation, cfg.SecretVersion, asked)
		e.grant = grantOf(cfg.Config.Policies, mg.GetNamespace())
		e.inputs = inputs{config: cfg.String(), field: netboxlink.FieldOf(cfg.Config), note: netboxlink.NoteFieldOf(cfg.Config), from: fromWords(mg.Spec.ForProvider)}
		e.of, e.warnBelow, e.url = cfg.Identity, warnBelow(cfg.Config), cfg.Config.URL
		e.netbox, err = c.Client(cfg.Identity, netboxlink.Settings(cfg, c.ClusterID))
	}
	if err == nil {
		return e, nil
	}
	if config.ReasonOf(err) == "" && netbox.KindOf(err) == "" {
		return nil, errors.Wrap(err, "cannot resolve the provider config")
	}
	return nil, e.trouble(mg, err)
}

// defaultWarnBelow is in percent, where the API server didn't fill one in.
const defaultWarnBelow = 10

func warnBelow(c v1alpha1.NetBoxConfig) int32 {
	if c.WarnBelow == nil {
		return defaultWarnBelow
	}
	return *c.WarnBelow
}

// untouched says that nothing of a resource that is being deleted can be in NetBox: the managed reconciler records the intention
// before it lets a record be made, and status says of what record was seen, should somebody have taken the annotations off. That one was asked for,
// nobody but the provider may take off.
func untouched(mg *v1alpha1.NetBoxIPAddress) bool {
	return meta.WasDeleted(mg) && unnamed(mg) && meta.GetExternalCreatePending(mg).IsZero() && mg.GetAnnotations()[v1alpha1.AnnotationAsked] == ""
}

package specdir

import (
	"fmt"
	"iter"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// uidSpace is the namespace (RFC 9562 §5.5) of the UIDs of entries: of one name there's one, on each host.
var uidSpace = uuid.MustParse("5d0c3a34-6d3c-5ac7-9a5b-0c7f6d6a8f0e") //nolint:gochecknoglobals // A constant.

// UIDOf an entry follows from its name. What metadata.uid says isn't looked at: a block of what kubectl printed is copied with it, and
// then two machines would have one grant.
func UIDOf(e *v1alpha1.BootEntry) string {
	return uidOf(boot.Name{Namespace: e.Namespace, Name: e.Name})
}

func uidOf(n boot.Name) string { return uuid.NewSHA1(uidSpace, []byte(n.String())).String() }

// A world is what a folder's objects come to.
type world struct {
	segments []boot.Segment
	// plans have no installed generation yet: that's known when they are served. more came since.
	plans *boot.Packed
	more  []*boot.Plan
	// kept are the entries, by UID, that nothing is installed by: their plan is of before, or another entry wants their MAC or address.
	kept map[string]bool
	// idle says of those, by UID, whose own entry has it so, why, in a sentence.
	idle map[string]string
	// data is what machines are given, by name, and came what was added since: others read both.
	data, came map[string]map[string][]byte
	// earlier are the entries, by UID, that only an earlier life of this bootd has read.
	earlier map[string]bool
	// before are the entries, by UID, whose plan is of an earlier life, be they named by a file or not.
	before map[string]bool
	// claims are the entries that aren't served.
	claims []*v1alpha1.BootEntry
	// former says of those that stood in a file that is wrong or empty now, and are served by another one, where.
	former map[boot.Name]string
	// rivals are the plans that aren't served, since others have what they want.
	rivals []*boot.Plan
	// unserved are those of an earlier life that weren't served, while not all can be read.
	unserved unserved
	// blind says which files were never right since bootd started; "": none.
	blind string
	// problems are those of entries, by name, and of networks.
	problems map[string]string
	// asking says that a plan asks for an install.
	asking bool
	// ahead are the files of profiles that may boot here.
	ahead []boot.Artifact
	// parts are those that plans were made of, without the entries, and known is what anything has or wants.
	parts parts
	known *mentions
}

// given is what machines are given, for others.
func (w *world) given() *[2]map[string]map[string][]byte {
	return &[2]map[string]map[string][]byte{w.data, w.came}
}

// parts of a world, by name.
type parts struct {
	networks map[boot.Name]*v1alpha1.BootNetwork
	profiles map[boot.Name]*v1alpha1.BootProfile
	secrets  map[boot.Name]map[string][]byte
	// places are where networks and profiles stand, by their keys.
	places map[string]string
	// kinds are the types of the secrets.
	kinds   map[boot.Name]string
	entries []placed
	// made is what profiles and networks come to.
	made *bootspec.Made
	// like has a plan of each profile: plans of one share what is the same.
	like map[string]*boot.Plan
	// wrong is where each object stands that is there and can't be taken, by its key, and unread where the first one does that doesn't say who it is.
	wrong  map[string]string
	unread string
	// doubtful are the keys of what is of before, or is there twice: nothing is installed by what rests on it.
	doubtful map[string]bool
}

// placed is an entry, and where it stands.
type placed struct {
	*object

	file string
}

// all gives the plans by numbers.
func (w *world) all() iter.Seq2[int, *boot.Plan] { return w.each(w.plans.All()) }

// scan is all in memory that's used again, as boot.Packed has it.
func (w *world) scan() iter.Seq2[int, *boot.Plan] { return w.each(w.plans.Scan()) }

func (w *world) each(packed iter.Seq2[int, *boot.Plan]) iter.Seq2[int, *boot.Plan] {
	return func(yield func(int, *boot.Plan) bool) {
		for i, p := range packed {
			if !yield(i, p) {
				return
			}
		}
		for i, p := range w.more {
			if !yield(w.plans.Len()+i, p) {
				return
			}
		}
	}
}

// numbered gives a plan by its number.
func (w *world) numbered(i int) *boot.Plan {
	if n := w.plans.Len(); i >= n {
		return w.more[i-n]
	}
	return w.plans.Ref(i).Plan()
}

// served is what was served up to now: plans by entry UID, and data by name.
type served struct {
	plans map[string]boot.Ref
	// packed has most of them.
	packed *boot.Packed
	data   map[string]map[string][]byte
	// earlier are those of an earlier life of this bootd, by entry UID, and segments are its segments.
	earlier map[string]bool
	// before are those whose plan is of an earlier life.
	before   map[string]bool
	segments []boot.Segment
	unserved unserved
	// since says since when an entry is there, recorded whether the newest record of a machine is of this entry.
	since    func(uid string) time.Time
	recorded func(*boot.Plan) bool
}

// resolve makes a world of the files.
func (f *folder) resolve(node map[string]string, before served) world {
	f.unpack()
	w := world{
		kept: map[string]bool{}, idle: map[string]string{}, data: map[string]map[string][]byte{}, problems: map[string]string{}, earlier: map[string]bool{}, before: map[string]bool{},
		former: map[boot.Name]string{}, blind: strings.Join(f.blind(), ", "),
	}
	p := f.gather(&w)
	w.serve(p, node)
	w.pullSecrets(p)
	w.profiles(p)
	plans := make([]*boot.Plan, 0, len(p.entries))
	gone := &spec{kind: v1alpha1.BootEntryKind}
	var b breath
	for _, x := range p.entries {
		b.take()
		plan, ok := w.plan(p, x, before)
		x.spec = gone // It takes more than all else. Its text is kept.
		if !ok {
			w.claims = append(w.claims, x.machine())
			continue
		}
		plans = append(plans, plan)
	}
	if f.incomplete() {
		plans = w.remember(p, plans, before)
		w.unserved = before.unserved
	}
	w.sortSegments()
	plans = before.sort(plans)
	w.segments = boot.Covering(w.segments, func(yield func(*boot.Plan) bool) {
		for _, p := range plans {
			if w.kept[p.EntryUID] && !yield(p) {
				return
			}
		}
	})
	admitted := w.admit(plans, p.entries)
	w.told(admitted)
	w.asking = slices.ContainsFunc(admitted, wantsInstall)
	w.mention(plans)
	w.plans = boot.Pack(admitted, before.packed)
	p.entries = nil
	w.parts = p
	return w
}

// plan of an entry: its own, or the one of before while something is wrong that only an install needs.
func (w *world) plan(p parts, x placed, before served) (*boot.Plan, bool) {
	e := x.machine()
	uid := UIDOf(e)
	plan, data, prob := p.resolve(e, uid)
	if prob == nil {
		if p.inDoubt(e) {
			w.kept[uid] = true
		}
		w.idles(x, e, plan)
		if len(data) > 0 {
			w.data[plan.UserDataSecret] = data
		}
		plan.Since = before.since(uid)
		p.share(plan)
		return plan, true
	}
	spec := e.Spec.ForProvider
	w.problems["BootEntry "+e.Namespace+"/"+e.Name] = fmt.Sprintf("%s:%d: BootEntry %s/%s: %s: %s", x.file, x.line, e.Namespace, e.Name, prob.Reason, prob.Message)
	old := before.plans[uid].Plan()
	if old == nil || old.HostUID != bootspec.RawUID(spec.Machine) {
		return nil, false
	}
	if !stillNamed(e, &old.Network) {
		return nil, false
	}
	w.kept[uid], w.before[uid] = true, before.before[uid]
	if d, ok := before.data[old.UserDataSecret]; ok {
		w.data[old.UserDataSecret] = d
	}
	kept := *old
	kept.Since = before.since(uid)
	return &kept, true
}

// share gives a plan what another of its profile has in the same words: most of a hall differ in little but names and addresses.
func (p *parts) share(plan *boot.Plan) {
	other, ok := p.like[plan.ProfileDigest]
	if !ok {
		p.like[plan.ProfileDigest] = plan
		return
	}
	plan.ProfileDigest = other.ProfileDigest
	if reflect.DeepEqual(plan.Artifacts, other.Artifacts) {
		plan.Artifacts = other.Artifacts
	}
	n, o := &plan.Network, &other.Network
	n.DNS, n.NTP, plan.CommandLine = one(n.DNS, o.DNS), one(n.NTP, o.NTP), one(plan.CommandLine, other.CommandLine)
	for _, x := range [][2]*string{
		{&plan.Entry.Namespace, &other.Entry.Namespace}, {&n.Namespace, &o.Namespace}, {&n.Name.Name, &o.Name.Name}, {&n.Domain, &o.Domain},
		{&plan.Script, &other.Script}, {&plan.GrubScript, &other.GrubScript}, {&plan.UserDataDigest, &other.UserDataDigest},
	} {
		if *x[0] == *x[1] {
			*x[0] = *x[1]
		}
	}
}

// one is the other one of two slices where both hold the same.
func one[T comparable](mine, other []T) []T {
	if (mine == nil) == (other == nil) && slices.Equal(mine, other) {
		return other
	}
	return mine
}

// resolve makes the plan of an entry.
func (p *parts) resolve(x *v1alpha1.BootEntry, uid string) (*boot.Plan, map[string][]byte, *boot.Problem) {
	e := *x // Nothing below changes what it points to.
	e.UID = types.UID(uid)
	spec := &e.Spec.ForProvider
	in := bootspec.Parts{
		Entry:   &e,
		Network: p.networks[boot.Name{Namespace: or(spec.Networks[0].NetworkRef.Namespace, e.Namespace), Name: spec.Networks[0].NetworkRef.Name}],
		Profile: p.profiles[boot.Name{Namespace: or(spec.ProfileRef.Namespace, e.Namespace), Name: spec.ProfileRef.Name}],
		Secrets: map[string]map[string][]byte{}, Wrong: p.wrong, Unread: p.unread, Made: p.made,
	}
	for _, r := range bootspec.DataRefs(&e) {
		if s := p.secrets[boot.Name{Namespace: e.Namespace, Name: r.Name}]; s != nil {
			in.Secrets[r.Name] = s
		}
	}
	return bootspec.Resolve(in, 0)
}

// stillNamed says whether an entry names each address that its machine is served.
func stillNamed(e *v1alpha1.BootEntry, served *boot.Network) bool {
	all, prob := bootspec.RawAddresses(e)
	if prob != nil {
		return false
	}
	for was := range served.Addresses() {
		if !slices.ContainsFunc(all, func(a netip.Prefix) bool { return a.Addr() == was.Addr() }) {
			return false
		}
	}
	return true
}

func compare(a, b boot.Name) int {
	switch x, y := a.String(), b.String(); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

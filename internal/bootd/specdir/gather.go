package specdir

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// found is an object, and the file that it stands in.
type found struct {
	*object

	file string
	// old is that of the object, or of its file.
	old bool
}

func (x found) place() string { return fmt.Sprintf("%s:%d", x.file, x.line) }

// newParts has nothing yet.
func newParts() parts {
	return parts{
		networks: map[boot.Name]*v1alpha1.BootNetwork{}, profiles: map[boot.Name]*v1alpha1.BootProfile{}, secrets: map[boot.Name]map[string][]byte{},
		places: map[string]string{}, kinds: map[boot.Name]string{}, like: map[string]*boot.Plan{}, doubtful: map[string]bool{}, wrong: map[string]string{}, made: bootspec.NewMade(),
	}
}

// gather sorts the objects of all files. Of two with one name the first counts, but nothing is installed by it where the other says
// something else. What is kept from before counts only where nothing else has its name: it may have been moved to another file.
func (f *folder) gather(w *world) parts {
	p := newParts()
	n := 0
	for _, name := range f.sorted() {
		n += len(f.files[name].objects)
		p.faulty(f.files[name].faults)
	}
	type named struct {
		kind string
		name boot.Name
	}
	first := make(map[named]found, n)
	for _, old := range []bool{false, true} {
		for _, name := range f.sorted() {
			c, file := f.files[name], f.path(name)
			for i := range c.objects {
				o := &c.objects[i]
				if (o.old || c.old || f.lost) != old {
					continue
				}
				x, key := found{o, file, old}, named{o.kind, o.name}
				before, twice := first[key]
				switch {
				case !twice:
					first[key] = x
					p.add(x)
				case !old || before.old || before.mayInstall() && !x.same(before.object): // What is of before may be there again in a moment.
					w.twice(&p, x, before)
				case x.isEntry() && !x.same(before.object):
					w.claims = append(w.claims, x.machine()) // What it wanted it may want again in a moment.
					w.former[x.name] = x.place()
				}
			}
		}
	}
	return p
}

// faulty notes which objects are wrong.
func (p *parts) faulty(faults []fault) {
	for _, x := range faults {
		switch {
		case x.of != "":
			p.wrong[x.of] = cmp.Or(p.wrong[x.of], x.place())
		case !x.foreign:
			p.unread = cmp.Or(p.unread, x.place())
		}
	}
}

func (w *world) twice(p *parts, x, first found) {
	says := fmt.Sprintf("%s: %s %s is there twice: what %s says of it counts", x.place(), x.kind, x.name, first.place())
	if x.old && !first.old {
		says = fmt.Sprintf("%s: %s %s stood there, too, before that file was wrong or empty: what %s says of it counts", x.place(), x.kind, x.name, first.place())
	}
	if !x.same(first.object) {
		says += ", and nothing is installed by it, since they aren't the same"
		p.doubtful[x.key()] = true
		if x.isEntry() {
			w.claims = append(w.claims, x.machine())
		}
	}
	w.problems[x.key()+" "+x.place()] = says
}

// same says whether two objects of one key ask for the same.
func (o *object) same(x *object) bool {
	if o.isEntry() && x.isEntry() {
		return o.text != "" && o.text == x.text || reflect.DeepEqual(o.machine(), x.machine())
	}
	return reflect.DeepEqual(o.network, x.network) && reflect.DeepEqual(o.profile, x.profile) && reflect.DeepEqual(o.secret, x.secret)
}

// mayInstall says whether anything may be installed by an object: by all but an entry that asks for nothing.
func (o *object) mayInstall() bool {
	return !o.isEntry() || o.machine().Spec.ForProvider.Install.Generation > 0
}

func (p *parts) add(x found) {
	if x.old {
		p.doubtful[x.key()] = true
	}
	switch {
	case x.network != nil:
		p.networks[x.name], p.places[x.key()] = x.network, x.place()
	case x.profile != nil:
		p.profiles[x.name], p.places[x.key()] = x.profile, x.place()
	case x.secret != nil:
		p.secrets[x.name] = map[string][]byte{} // Not nil, where it holds nothing.
		maps.Copy(p.secrets[x.name], x.secret.Data)
		p.kinds[x.name] = string(x.secret.Type)
	case x.isEntry():
		p.entries = append(p.entries, placed{x.object, x.file})
	}
}

// inDoubt says whether an entry, or anything that it refers to, is of before, or is there twice.
func (p *parts) inDoubt(e *v1alpha1.BootEntry) bool {
	if len(p.doubtful) == 0 {
		return false
	}
	spec := e.Spec.ForProvider
	on := map[string]boot.Name{
		"BootEntry":   {Namespace: e.Namespace, Name: e.Name},
		"BootProfile": {Namespace: or(spec.ProfileRef.Namespace, e.Namespace), Name: spec.ProfileRef.Name},
	}
	for _, r := range bootspec.DataRefs(e) {
		if p.doubtful["Secret "+boot.Name{Namespace: e.Namespace, Name: r.Name}.String()] {
			return true
		}
	}
	for _, n := range spec.Networks {
		if p.doubtful["BootNetwork "+boot.Name{Namespace: or(n.NetworkRef.Namespace, e.Namespace), Name: n.NetworkRef.Name}.String()] {
			return true
		}
	}
	for kind, name := range on {
		if p.doubtful[kind+" "+name.String()] {
			return true
		}
	}
	return false
}

// told says once for all machines that ask for an install, and get none by what is in doubt.
func (w *world) told(plans []*boot.Plan) {
	if w.blind != "" {
		w.problems["installs"] = fmt.Sprintf("nothing is installed on any machine: %s is wrong, or empty, and what bootd has read of it before named no machine, so that which machines stand in it isn't known; mend it, or remove it",
			w.blind)
		return
	}
	n, one := 0, boot.Name{}
	for _, p := range plans {
		if !w.kept[p.EntryUID] || asks(p) == 0 {
			continue
		}
		if why := w.idle[p.EntryUID]; why != "" {
			w.problems[idling+p.Entry.String()] = why
			continue
		}
		if n == 0 || compare(p.Entry, one) < 0 {
			one = p.Entry
		}
		n++
	}
	if n > 0 {
		w.problems["installs"] = fmt.Sprintf("nothing is installed on %d machines that have an install.generation, BootEntry %s among them: their specs are wrong, gone, there twice, or want what another entry has",
			n, one)
	}
}

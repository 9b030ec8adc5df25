package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/proc"
)

// How much of events and logs a description shows.
const (
	lastEvents = 12
	lastLines  = 6
)

// described are the kinds whose conditions tell the story of a machine, from the claim to the wire.
func described() []Ref {
	return []Ref{
		{APIVersion: Platform, Kind: "BareMetalNode"},
		{APIVersion: PlatformV2, Kind: "BareMetalNode"},
		{APIVersion: Platform, Kind: "RackPool"},
		{APIVersion: Platform, Kind: "XBareMetalNode"},
		{APIVersion: Platform, Kind: "XRackPool"},
		{APIVersion: Baremetal, Kind: "HostClaim"},
		{APIVersion: Baremetal, Kind: "NetBoxIPAddress"},
		{APIVersion: Baremetal, Kind: "BootEntry"},
		{APIVersion: Baremetal, Kind: "BootSession"},
		{APIVersion: Baremetal, Kind: "RedfishHost"},
		{APIVersion: Baremetal, Kind: "BootNetwork"},
		{APIVersion: Baremetal, Kind: "BootServer"},
	}
}

// Describe shows, for a person who has to find out why something doesn't happen, the conditions of all objects in a namespace
// and of the operator's, the last events, what the machines did last, and the last log lines of each component.
func (l *Lab) Describe(namespace string) string {
	// Whoever asks has usually run out of time: the description has its own.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var b strings.Builder
	for _, r := range described() {
		l.describeKind(ctx, &b, r, namespace)
	}
	l.describeEvents(ctx, &b, namespace)
	for _, h := range l.Hosts() {
		if s := h.Machine.Status(); s.Boots > 0 {
			fmt.Fprintf(&b, "machine %s: powered %t, stage %s, last error %q, last events:\n", h.Name, s.Powered, s.Stage, s.Error)
			events := h.Machine.Events()
			for _, e := range events[max(0, len(events)-lastLines):] {
				fmt.Fprintf(&b, "  %s\n", e)
			}
		}
	}
	for _, p := range l.components() {
		fmt.Fprintf(&b, "%s, last lines of %s:\n%s\n", p.Name(), p.Log(), proc.TailOf(p.Log(), lastLines, noteworthy))
	}
	return b.String()
}

// noteworthy leaves out what is logged at debug level without an error in it.
func noteworthy(line string) bool {
	return !strings.Contains(line, `"level":"DEBUG`) || strings.Contains(line, `"error"`)
}

func (l *Lab) describeKind(ctx context.Context, b *strings.Builder, r Ref, namespace string) {
	all := &unstructured.UnstructuredList{}
	all.SetAPIVersion(r.APIVersion)
	all.SetKind(r.Kind + "List")
	if err := l.Client().List(ctx, all); err != nil {
		fmt.Fprintf(b, "%s: %v\n", r.Kind, err)
		return
	}
	for i := range all.Items {
		u := &all.Items[i]
		if ns := u.GetNamespace(); namespace == "" || slices.Contains([]string{"", namespace, InfraNamespace, BootNamespace}, ns) {
			b.WriteString(describeObject(u))
		}
	}
}

// describeObject is one line for an object and one for each of its conditions that isn't True.
func describeObject(u *unstructured.Unstructured) string {
	var b strings.Builder
	ref := Ref{Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
	fmt.Fprintf(&b, "%s:", ref)
	if u.GetDeletionTimestamp() != nil {
		fmt.Fprintf(&b, " deleting, finalizers %v", u.GetFinalizers())
	}
	for _, f := range []string{"phase", "reason", "message"} {
		if s := StringOf(u, "status", f); s != "" {
			fmt.Fprintf(&b, " %s %q", f, s)
		}
	}
	if s := StringOf(u, "status", "atProvider", "stage"); s != "" {
		fmt.Fprintf(&b, " stage %q", s)
	}
	b.WriteString("\n")
	for _, c := range Conditions(u) {
		if c.Status != "True" {
			fmt.Fprintf(&b, "  %s=%s %s: %s\n", c.Type, c.Status, c.Reason, c.Message)
		}
	}
	return b.String()
}

func (l *Lab) describeEvents(ctx context.Context, b *strings.Builder, namespace string) {
	events := &corev1.EventList{}
	if err := l.Client().List(ctx, events, client.InNamespace(namespace)); err != nil {
		fmt.Fprintf(b, "events: %v\n", err)
		return
	}
	slices.SortFunc(events.Items, func(x, y corev1.Event) int { return x.LastTimestamp.Compare(y.LastTimestamp.Time) })
	for _, e := range events.Items[max(0, len(events.Items)-lastEvents):] {
		fmt.Fprintf(b, "event %s %s %s/%s: %s: %s\n", e.LastTimestamp.Format(time.TimeOnly), e.InvolvedObject.Kind,
			e.InvolvedObject.Namespace, e.InvolvedObject.Name, e.Reason, e.Message)
	}
}

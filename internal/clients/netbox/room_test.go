package netbox_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestRoomOfOwners: the connections of an owner share what a room has for one, so that another owner's find some of it.
func TestRoomOfOwners(t *testing.T) {
	const age = time.Minute
	full := func() *shelf { return &shelf{markers: marked(1000, "c1/")} }
	room := netbox.NewRoom(netbox.Limits{Each: 1 << 20, All: 2 << 20, Page: 1 << 20, AtOnce: 2})
	slow, looking, resume := full(), make(chan struct{}), make(chan struct{})
	slow.looking, slow.resume = looking, resume
	waits, other := full(), full()
	a, _ := ownedShelf(t, "team-a", slow, netbox.WithRoom(room))
	b, pass := ownedShelf(t, "team-a", waits, netbox.WithRoom(room))
	c, _ := ownedShelf(t, "team-b", other, netbox.WithRoom(room))
	done := make(chan error)
	look := func(c *netbox.Client) {
		_, err := c.Refresh(t.Context(), age)
		done <- err
	}
	go look(a)
	<-looking
	go look(b)
	go look(c)
	if err := <-done; err != nil {
		t.Errorf("another owner's looks meanwhile: %v", err)
	}
	if n := waits.requests(); n != 0 {
		t.Errorf("%d requests of the owner whose other connection looks", n)
	}
	close(resume)
	var refused int
	for range 2 {
		if err := <-done; netbox.Unfit(err) && strings.Contains(err.Error(), "beside what other provider configs have") {
			refused++
		} else if err != nil {
			t.Error(err)
		}
	}
	if refused != 1 {
		t.Errorf("%d of two were refused that don't fit together", refused)
	}
	a.Close()
	pass(10 * time.Minute)
	if _, ok, err := b.Seen(t.Context(), 1, age); !ok || err != nil {
		t.Errorf("what one leaves the owner's other has: %v, %v", ok, err)
	}
}

// TestMost: a NetBox that has many more addresses than there are resources isn't looked at: anybody's server may make them up.
func TestMost(t *testing.T) {
	for most, fits := range map[int]bool{2: false, 3: true} {
		s := &shelf{markers: marked(3, "c1/")}
		c, _ := onShelf(t, s, netbox.WithMost(func(_ context.Context, name string) int {
			if name != "" {
				t.Errorf("of %q", name)
			}
			return most
		}))
		if _, err := c.Refresh(t.Context(), time.Minute); fits != (err == nil) || !fits && (!netbox.Unfit(err) || !strings.Contains(err.Error(), "many more than there are resources")) {
			t.Errorf("three where %d may be: %v", most, err)
		}
	}
}

// TestMostFat: few addresses with long texts don't have the room of many.
func TestMostFat(t *testing.T) {
	for most, fits := range map[int]bool{100: false, 1000: true} {
		s := &shelf{markers: marked(100, "c1/"), text: strings.Repeat("x", 10<<10)}
		c, _ := onShelf(t, s, netbox.WithMost(func(context.Context, string) int { return most }))
		if _, err := c.Refresh(t.Context(), time.Minute); fits != (err == nil) || !fits && (!netbox.Unfit(err) || !strings.Contains(err.Error(), "may have for so many resources")) {
			t.Errorf("a hundred of 10 kB where %d may be: %v", most, err)
		}
	}
}

// TestDenseIsLeftOut: a record that can't be looked at is read by itself, and the others are looked at.
func TestDenseIsLeftOut(t *testing.T) {
	s := &shelf{markers: marked(3, "c1/"), tags: map[int]string{2: strings.Repeat(`{"slug":"x"},`, 4096) + `{"slug":"x"}`}}
	c, _ := onShelf(t, s)
	for number, want := range map[int64]bool{1: true, 2: false, 3: true} {
		if _, ok, err := c.Seen(t.Context(), number, time.Minute); ok != want || err != nil {
			t.Errorf("Seen(%d) = %v, %v", number, ok, err)
		}
	}
	if s.requests() != 1 {
		t.Errorf("%d requests", s.requests())
	}
}

// TestRoom: connections that share a room keep no more than it has, and look one after the other. One that is closed leaves its place.
func TestRoom(t *testing.T) {
	const age = time.Minute
	first, second := &shelf{markers: marked(1000, "c1/")}, &shelf{markers: marked(1000, "c1/")}
	room := netbox.NewRoom(netbox.Limits{Each: 1 << 20, All: 1 << 20, Page: 1 << 20, AtOnce: 1})
	a, _ := onShelf(t, first, netbox.WithRoom(room))
	b, pass := onShelf(t, second, netbox.WithRoom(room))
	looking, resume := make(chan struct{}), make(chan struct{})
	first.looking, first.resume = looking, resume
	done := make(chan error)
	go func() {
		_, _, err := a.Seen(t.Context(), 1, age)
		done <- err
	}()
	<-looking
	other := make(chan error)
	go func() {
		_, err := b.Refresh(t.Context(), age)
		other <- err
	}()
	time.Sleep(20 * time.Millisecond)
	if n := second.requests(); n != 0 {
		t.Errorf("%d requests while the other one looks", n)
	}
	close(resume)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := <-other; !netbox.Unfit(err) || !strings.Contains(err.Error(), "beside what other provider configs have") {
		t.Errorf("two don't fit: %v", err)
	}
	if _, ok, err := b.Seen(t.Context(), 1, age); ok || err != nil || second.requests() != 1 {
		t.Errorf("the one that didn't is read record by record: %v, %v, %d requests", ok, err, second.requests())
	}
	a.Close()
	pass(10 * time.Minute)
	if _, ok, err := b.Seen(t.Context(), 1, age); !ok || err != nil {
		t.Errorf("and as soon as there's room it isn't: %v, %v", ok, err)
	}
}

package tftp

import (
	"context"
	"testing"
)

// TestOwnArrived: what a client has whole is told of once. Firmware that asks for the size breaks a transfer off, and asks again.
func TestOwnArrived(t *testing.T) {
	arrived, outcomes := make(chan int64, 4), make(chan Outcome, 4)
	to := served(t, func(c *Config) {
		c.Observe = func(o Outcome) { outcomes <- o }
		c.Own = own("token/x", func(context.Context) (Content, error) {
			return Content{Name: "x", Data: content(), Arrived: func(bytes int64) { arrived <- bytes }}, nil
		})
	})
	c := client(t)
	_, tid := exchange(t, c, to, "\x00\x01token/x\x00octet\x00tsize\x000\x00")
	if _, err := c.WriteToUDP([]byte("\x00\x05\x00\x08no\x00"), tid); err != nil {
		t.Fatal(err)
	}
	if o := <-outcomes; o != Aborted {
		t.Fatalf("it ended with %s", o)
	}
	if _, _, err := fetch(to, "token/x", 1468); err != nil {
		t.Fatal(err)
	}
	if got := <-arrived; got != int64(len(content())) || len(arrived) > 0 {
		t.Errorf("%d bytes arrived, and %d times more", got, len(arrived))
	}
}

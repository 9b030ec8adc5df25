package rpiboot

import (
	"errors"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestLooped: a firmware that isn't given its first file asks for nothing more of that boot. That it has begun once more than its grant serves is noted all the
// same, once, and the boot before begins nothing any more.
func TestLooped(t *testing.T) {
	r := newRig(t, nil)
	for range boot.MaxOpens + 3 {
		r.now = r.now.Add(3 * time.Minute)
		r.asksDHCP(true)
		for _, name := range four() {
			if _, err := r.get(name); err != nil {
				break
			}
		}
	}
	if n, calls := len(r.session.Opened), len(r.calls); n != boot.MaxOpens+1 || calls != boot.MaxOpens+1 {
		t.Fatalf("%d boots are noted, by %v", n, r.calls)
	}
	fifth := boot.Claims{Kind: boot.TokenBoot, GrantID: grantID, Nonce: r.session.Opened[boot.MaxOpens-1].Nonce}
	if _, err := boot.Consume(r.session, fifth, "bootd", r.now); !errors.Is(err, boot.ErrBootLoop) {
		t.Errorf("the fifth boot begins: %v", err)
	}
}

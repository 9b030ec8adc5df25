package netbox_test

import "time"

const (
	// soakLag is how far a NetBox's reads are behind, as where a copy of its database answers them: from after one fifth of the soak for three
	// tenths of it, all of them in the first half of that, and every other one in the second, so that a record shows and is gone again.
	soakLag = 2 * soakTimeout
	// soakHidden is how long after it was made the provider doesn't believe that a record isn't there. Annotations have whole seconds.
	soakHidden = time.Second + 4*soakLag
	// lagged is a read of a copy that is behind, in the table.
	lagged = "a read answered by a copy that is behind"
)

// lag has reads lag, or not, by how far the soak is.
func (k *soak) lag(progress int) {
	every := 0
	switch {
	case progress >= soakTotal/5 && progress < soakTotal*7/20:
		every = 1
	case progress >= soakTotal*7/20 && progress < soakTotal/2:
		every = 2
	}
	if every == k.lags {
		return
	}
	if k.lags = every; every == 0 {
		k.netbox.Lag(0, 1)
		return
	}
	k.netbox.Lag(soakLag, every)
}

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// foundUpToDate is what a look finds that finds nothing to do.
const foundUpToDate = "UpToDate"

// A count is how many looks at the resources of a kind a provider has made, by what they found. Reconciles would be more: the runtime also counts
// those that its rate limit sent away.
type count map[string]float64

// all of them.
func (c count) all() (n float64) {
	for _, v := range c {
		n += v
	}
	return n
}

// looks at NetBoxIPAddresses.
func looks(ctx context.Context, l *lab.Lab) (count, error) { return looksAt(ctx, l, "NetBoxIPAddress") }

// looksAt reads the provider's metrics.
func looksAt(ctx context.Context, l *lab.Lab, kind string) (count, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.ProviderMetrics, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("cannot ask for the provider's metrics: %w", err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("cannot read the provider's metrics: %w", err)
	}
	defer func() { _ = res.Body.Close() }() // Read to its end.
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("cannot read the provider's metrics: %s", res.Status)
	}
	return counted(res.Body, kind)
}

// counted picks the looks at a kind from metrics in Prometheus' text format.
func counted(metrics io.Reader, kind string) (count, error) {
	const begins = `provider_baremetal_observations_total{found="`
	out := count{}
	lines := bufio.NewScanner(metrics)
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), begins)
		found, rest, _ := strings.Cut(rest, `"`)
		value, mine := strings.CutPrefix(rest, `,kind="`+kind+`"} `)
		if !ok || !mine {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, fmt.Errorf("cannot understand metric %q: %w", lines.Text(), err)
		}
		out[found] = n
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("cannot read the provider's metrics: %w", err)
	}
	return out, nil
}

// settles waits until a provider that was just started has looked at so many and found them as they should be, and has no more to look at.
// It returns how many looks that took. One that fails is an error.
func settles(ctx context.Context, l *lab.Lab, n float64) (float64, error) {
	deadline, last, same := time.Now().Add(seenTimeout), 0.0, 0
	for {
		if err := pass(ctx, lookEvery); err != nil {
			return 0, err
		}
		now, err := looks(ctx, l)
		if err != nil {
			return 0, err
		}
		same++
		if now.all() != last {
			same, last = 0, now.all()
		}
		switch {
		case now["Failed"] > 0:
			return 0, fmt.Errorf("%.0f looks failed: %v", now["Failed"], now)
		case now[foundUpToDate] >= n && same >= quiet:
			return last, nil
		case time.Now().After(deadline):
			return 0, fmt.Errorf("not all of %.0f were looked at within %s: %v", n, seenTimeout, now)
		}
	}
}

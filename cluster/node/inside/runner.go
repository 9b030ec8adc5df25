package inside

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/proc"
)

// readyTimeout is how long a stage's processes may take until they're ready, on a busy machine.
const readyTimeout = 3 * time.Minute

// run is the runner: it runs the stages and then looks after the processes until it's killed.
func run(p Plan) error {
	// Who is to be stopped is the keeper; a signal to the whole group isn't meant for this process. It's caught and dropped: what
	// is ignored stays so in children, down to the pods, which are asked to end by SIGTERM.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	if err := serveDials(p.Socket); err != nil {
		return err
	}
	var procs []*proc.Process
	for _, s := range p.Stages {
		report(Report{Say: s.Say})
		for _, c := range s.Start {
			pr, err := proc.Start(proc.Command{Name: c.Name, Path: c.Path, Args: c.Args, Env: c.Env, Log: c.Log})
			if err != nil {
				return err
			}
			procs = append(procs, pr)
		}
		if err := awaitAll(procs, s.Await); err != nil {
			return err
		}
	}
	report(Report{Running: true})
	watch(procs)
	return nil
}

func awaitAll(procs []*proc.Process, await []Ready) error {
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	for _, r := range await {
		i := slices.IndexFunc(procs, func(p *proc.Process) bool { return p.Name() == r.Process })
		if i < 0 {
			return fmt.Errorf("there is no process %q to wait for", r.Process)
		}
		ready, err := r.check()
		if err != nil {
			return err
		}
		if err := procs[i].Await(ctx, ready); err != nil {
			return err
		}
	}
	return nil
}

// watch says once of each process that it ended by itself, and why.
func watch(procs []*proc.Process) {
	said := map[string]bool{}
	for {
		time.Sleep(time.Second)
		for _, p := range procs {
			if err := p.Failed(); err != nil && !said[p.Name()] {
				said[p.Name()] = true
				report(Report{Failed: err.Error() + "; its last lines:\n" + proc.Tail(p.Log(), 10)})
			}
		}
	}
}

// check is one look whether a process is ready.
func (r Ready) check() (func(context.Context) error, error) {
	if r.Socket != "" {
		return func(ctx context.Context) error {
			c, err := (&net.Dialer{}).DialContext(ctx, "unix", r.Socket)
			if err != nil {
				return err
			}
			return c.Close()
		}, nil
	}
	hc, err := r.client()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL, http.NoBody)
		if err != nil {
			return err
		}
		res, err := hc.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close() // Only its status counts.
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s", r.URL, res.Status)
		}
		return nil
	}, nil
}

func (r Ready) client() (*http.Client, error) {
	hc := &http.Client{Timeout: 5 * time.Second}
	if r.CA == "" {
		return hc, nil
	}
	ca, err := os.ReadFile(r.CA)
	if err != nil {
		return nil, fmt.Errorf("cannot read the authority of %s: %w", r.URL, err)
	}
	pair, err := tls.LoadX509KeyPair(r.Cert, r.Key)
	if err != nil {
		return nil, fmt.Errorf("cannot read the certificate for %s: %w", r.URL, err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		return nil, errors.New("there is no certificate in " + r.CA)
	}
	hc.Transport = &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12,
	}}
	return hc, nil
}

// Package hooks is what the provider's receivers have in common, which take what others send of changes: how they listen, and how one that doesn't
// lead passes on what it was sent.
package hooks

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"
)

// goodbye is how long what is under way may take at the end.
const goodbye = 2 * time.Second

// Serve answers what comes, over so many connections at once at most, until ctx ends. An error is why it couldn't.
func Serve(ctx context.Context, l net.Listener, conns int, h http.Handler) error {
	s := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      10 * time.Second,
		IdleTimeout:       30 * time.Second,
		MaxHeaderBytes:    16 << 10,
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		bye, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
		defer cancel()
		_ = s.Shutdown(bye) // Who is cut off has only given a hint.
	}()
	if err := s.Serve(netutil.LimitListener(l, conns)); !errors.Is(err, http.ErrServerClosed) {
		return err //nolint:wrapcheck // The caller says what it was for.
	}
	<-stopped
	return nil
}

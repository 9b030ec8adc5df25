package qcow2

import (
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// window is the most of its past that a cluster may refer to: what every reader of zstd has to bear (RFC 8878 §3.1.1.1.2). A cluster has less.
const window = 8 << 20

var expanders = sync.Pool{New: func() any { //nolint:gochecknoglobals // A pool is one for all.
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		panic(err) // Its options are sound.
	}
	return &expander{d}
}}

// expander is inflater for a cluster that is compressed by zstd: one frame, and whatever lies behind it.
type expander struct{ zstd *zstd.Decoder }

func expand(r io.Reader) (io.ReadCloser, error) {
	e := expanders.Get().(*expander) //nolint:forcetypeassert // It's what New makes.
	if err := e.zstd.Reset(r); err != nil {
		return nil, fmt.Errorf("cannot expand a cluster: %w", err)
	}
	return e, nil
}

// Read is an io.Reader's. It gives all that was asked for, as inflater's does.
func (e *expander) Read(p []byte) (int, error) {
	n, err := io.ReadFull(e.zstd, p)
	if err != nil {
		return n, fmt.Errorf("a compressed cluster is shorter than a cluster: %w", err)
	}
	return n, nil
}

// Close gives it back, without what it read from.
func (e *expander) Close() error {
	if err := e.zstd.Reset(nil); err != nil {
		return nil //nolint:nilerr // Then it's nobody's any more.
	}
	expanders.Put(e)
	return nil
}

package specdir

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// changes are those of a folder after which a file in it is whole: a file that is only just being written isn't looked at for that.
const changes = unix.IN_CLOSE_WRITE | unix.IN_MOVED_TO | unix.IN_MOVED_FROM | unix.IN_DELETE

// watch wakes Run when something has changed in the folder, until ctx ends. What it was isn't asked: Run looks at all of it, now and then
// anyway, since not every file system tells.
func (s *Source) watch(ctx context.Context) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		s.o.Logger.Info("the folder of specs is looked at now and then", "why", err.Error())
		return
	}
	f := os.NewFile(uintptr(fd), "inotify")
	defer func() { _ = f.Close() }()
	if _, err := unix.InotifyAddWatch(fd, s.o.Dir, changes|unix.IN_ONLYDIR); err != nil {
		s.o.Logger.Info("the folder of specs is looked at now and then", "why", err.Error())
		return
	}
	stop := context.AfterFunc(ctx, func() { _ = f.Close() })
	defer stop()
	for b := make([]byte, 64<<10); ; {
		n, err := f.Read(b)
		if err != nil {
			return
		}
		if concerns(b[:n]) {
			s.wake()
		}
	}
}

// concerns says whether one of some events (inotify(7)) may be of specs: those of a file that isn't one would have the next change of one that is wait its
// turn. What none of them tells, such as a link that's made, is seen by looking now and then. A kubelet's volume changes all files by its own ..data; an event without a name says that there were too many.
func concerns(events []byte) bool {
	for len(events) >= unix.SizeofInotifyEvent {
		end := min(unix.SizeofInotifyEvent+int(binary.NativeEndian.Uint32(events[12:])), len(events))
		name := string(bytes.TrimRight(events[unix.SizeofInotifyEvent:end], "\x00"))
		if name == "" || strings.HasPrefix(name, "..") || isSpecs(name) {
			return true
		}
		events = events[end:]
	}
	return false
}

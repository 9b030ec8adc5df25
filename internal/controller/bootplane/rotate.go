package bootplane

import (
	"bytes"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

const (
	// keySize is that of HMAC-SHA256's output: more adds nothing.
	keySize = 32
	// keyLife is how long tokens are made with a key.
	keyLife = 7 * 24 * time.Hour
	// keyNotice is how long all bootds know a key before the first of them makes tokens with it.
	keyNotice = 10 * time.Minute

	keyCurrent  = "current"
	keyPrevious = "previous"
	// annotationSince says since when the current key is current, annotationAnnounced since when the previous one is in truth
	// the next one.
	annotationSince     = v1alpha1.Group + "/current-since"
	annotationAnnounced = v1alpha1.Group + "/next-announced"
)

// keys of tokens. Tokens are made with current; those made with either are valid.
type keys struct {
	current, previous []byte
	// since is when current became current.
	since time.Time
	// announced is when previous became the key that follows; zero where it's really the one before.
	announced time.Time
}

func (k keys) equal(o keys) bool {
	return bytes.Equal(k.current, o.current) && bytes.Equal(k.previous, o.previous) && k.since.Equal(o.since) && k.announced.Equal(o.announced)
}

// rotate decides what the keys are to be, given a fresh one in case it's needed, and when to ask again. A new key is first
// announced in the place of the previous one, which no token of a week ago needs any more: so every bootd knows it by the time the
// first one uses it.
func rotate(k keys, fresh []byte, now time.Time) (keys, time.Duration) {
	if len(k.current) != keySize {
		return keys{current: fresh, since: now}, keyLife
	}
	if k.since.IsZero() || k.since.After(now) {
		k.since = now // Nobody knows how old it is.
	}
	if !k.announced.IsZero() && len(k.previous) == keySize {
		if left := keyNotice - now.Sub(k.announced); left > 0 {
			return k, left
		}
		return keys{current: k.previous, previous: k.current, since: now}, keyLife
	}
	if left := keyLife - now.Sub(k.since); left > 0 {
		return k, left
	}
	return keys{current: k.current, previous: fresh, since: k.since, announced: now}, keyNotice
}

// keysIn a Secret. What can't be read counts as absent.
func keysIn(s *corev1.Secret) keys {
	return keys{
		current:   s.Data[keyCurrent],
		previous:  s.Data[keyPrevious],
		since:     timeIn(s, annotationSince),
		announced: timeIn(s, annotationAnnounced),
	}
}

func timeIn(s *corev1.Secret, annotation string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s.Annotations[annotation])
	if err != nil {
		return time.Time{}
	}
	return t
}

// into a Secret.
func (k keys) into(s *corev1.Secret) {
	s.Data = map[string][]byte{keyCurrent: k.current}
	if len(k.previous) > 0 {
		s.Data[keyPrevious] = k.previous
	}
	if s.Annotations == nil {
		s.Annotations = map[string]string{}
	}
	s.Annotations[annotationSince] = k.since.UTC().Format(time.RFC3339Nano)
	delete(s.Annotations, annotationAnnounced)
	if !k.announced.IsZero() {
		s.Annotations[annotationAnnounced] = k.announced.UTC().Format(time.RFC3339Nano)
	}
}

package bootd

import "sync"

// A trouble is why something can't be had, in a sentence; "": it can, or nobody needs it. Safe for concurrent use.
type trouble struct {
	mu  sync.Mutex
	why string
}

// get says what it is now.
func (t *trouble) get() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.why
}

// set notes what it is now, and says whether that's news.
func (t *trouble) set(why string) (news bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	news = t.why != why
	t.why = why
	return news
}

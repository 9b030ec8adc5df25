package netbox

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"strconv"
)

const (
	// pageSize keeps a page of full records well below maxBody.
	pageSize = 200
	// maxPages bounds a list that never ends.
	maxPages = 25
	// listMost and listItems bound a list whose pages are large or many, which anybody's server may give: a provider has 512 MiB for all its
	// connections. 10,000 addresses of ours are some 15 MiB.
	listMost  = 96 << 20
	listItems = 200_000
)

// list performs one list call and decodes its page.
func list[T any](ctx context.Context, c *Client, k call, item func([]byte) (T, error)) (page[T], error) {
	a, err := c.do(ctx, k)
	if err != nil {
		return page[T]{}, err
	}
	return readPage(k, a, item)
}

func readPage[T any](k call, a answer, item func([]byte) (T, error)) (page[T], error) {
	p, err := decodePage(a.body, item)
	if err != nil {
		return page[T]{}, k.failed(KindUnexpected, "its answer isn't a list of what was asked for; check the URL", err)
	}
	return p, nil
}

// listAll reads a list of full records.
func listAll[T any](ctx context.Context, c *Client, k call, item func([]byte) (T, error)) ([]T, error) {
	return listPages(ctx, c, k, pageSize, maxPages, item)
}

// listPages follows up to most pages of a size by offset, never by the link that the server gives, which names any host.
func listPages[T any](ctx context.Context, c *Client, k call, size, most int, item func([]byte) (T, error)) ([]T, error) {
	var all []T
	read := 0
	for range most {
		k.query = paged(k.query, size, len(all))
		a, err := c.do(ctx, k)
		if err != nil {
			return nil, err
		}
		if read += len(a.body); read > listMost {
			return nil, k.failed(KindUnexpected, fmt.Sprintf("its list is larger than %d MiB", listMost>>20), nil)
		}
		p, err := readPage(k, a, item)
		if err != nil {
			return nil, err
		}
		if len(p.Items) > size || len(all)+len(p.Items) > listItems {
			return nil, k.failed(KindUnexpected, fmt.Sprintf("its list has more than %d on a page, which is what was asked for, or more than %d in all",
				size, listItems), nil)
		}
		all = append(all, p.Items...)
		if !p.More || len(p.Items) == 0 {
			return all, nil
		}
	}
	return nil, k.failed(KindUnexpected, "its list doesn't end", nil)
}

// paged asks for one page. By number, what is made meanwhile comes last: in most other orders it would shift what was still to be read.
func paged(q url.Values, limit, offset int) url.Values {
	q = maps.Clone(q)
	if q == nil {
		q = url.Values{}
	}
	if !q.Has("ordering") {
		q.Set("ordering", "id")
	}
	q.Set("limit", strconv.Itoa(limit))
	q.Set("offset", strconv.Itoa(offset))
	return q
}

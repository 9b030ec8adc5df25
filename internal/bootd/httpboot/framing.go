package httpboot

import "net/http"

// framed ends a connection with the answer to a request whose end somebody may take for elsewhere. net/http drops the Content-Length of a body in
// chunks, and a Transfer-Encoding that HTTP/1.0 doesn't know, and goes on with the connection, which a server must not (RFC 9112 §6.1): what comes next
// on it may be of that body, to a proxy which read the other one, and its answer would go to another machine. Handlers don't see what was dropped, so
// that each such request counts.
func framed(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TransferEncoding) > 0 || !r.ProtoAtLeast(1, 1) {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

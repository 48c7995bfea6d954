package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// tokenHeader has the token of a decision. No form of another site can send it.
const tokenHeader = "X-Mine-Token" //nolint:gosec // a header's name

// policy lets a page load its own style sheet, script and icon, and nothing else from anywhere.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard refuses requests before anything looks at them.
type guard struct {
	hosts  []string
	token  [sha256.Size]byte
	origin *http.CrossOriginProtection
}

func newGuard(opts Options) *guard {
	g := &guard{hosts: []string{"localhost"}, token: sha256.Sum256([]byte(opts.Token)),
		origin: http.NewCrossOriginProtection()}
	for _, name := range opts.Hosts {
		g.hosts = append(g.hosts, strings.ToLower(name))
	}
	return g
}

// around guards a handler.
func (g *guard) around(next http.Handler) http.Handler {
	next = g.origin.Handler(next) // a write from another site
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !g.knows(r.Host) {
			http.Error(w, "This server does not answer to that name: use localhost or an address, or start mine serve with --host NAME.", http.StatusMisdirectedRequest)
			return
		}
		if site := r.Header.Get("Sec-Fetch-Site"); (site == "cross-site" || site == "same-site") &&
			r.Header.Get("Sec-Fetch-Mode") != "navigate" {
			http.Error(w, "Pages of other sites may not read this one.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// knows reports whether a request's Host is one of this server. Only a name can be made to lead here by somebody else,
// so every address is one.
func (g *guard) knows(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return slices.Contains(g.hosts, host)
}

// mayDecide reports whether a request has the token. It takes as long for any other.
func (g *guard) mayDecide(r *http.Request) bool {
	sent := sha256.Sum256([]byte(r.Header.Get(tokenHeader)))
	return subtle.ConstantTimeCompare(sent[:], g.token[:]) == 1
}

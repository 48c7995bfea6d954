// Package browser has the tests of the pages in a real browser: Debian's Chromium, which chromedp drives. `make
// test-page` installs it, and axe-core from npm, and runs them; they take a built program, not its packages, because
// one of them kills the server.
package browser

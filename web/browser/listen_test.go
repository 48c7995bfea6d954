package browser

import (
	"fmt"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
)

// listen notes requests and failures.
func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch event := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, event.Request.URL)
	case *runtime.EventExceptionThrown:
		b.failures = append(b.failures, "the script failed: "+event.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		if event.Entry.Source == log.EntrySourceSecurity {
			b.failures = append(b.failures, fmt.Sprintf("the browser refused something: %s %s", event.Entry.Text, event.Entry.URL))
		}
	}
}

// Scenarios of channels that close, selects, groups, once, conditions, contexts and started goroutines.
// A scenario that stands still ends with an error of the runtime's own detector; some end with a panic.
package main

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const wait = 60 * time.Millisecond

// A kind of message.
type kind int

const (
	put kind = iota
	get
	stop
)

func pause() { time.Sleep(8 * wait) }

// all runs functions as goroutines, each a little later than the one before, and waits for them.
func all(bodies ...func()) {
	var group sync.WaitGroup
	for number, body := range bodies {
		group.Add(1)
		go func(number int, body func()) {
			time.Sleep(time.Duration(number) * wait)
			body()
			group.Done() // not deferred: else main may end before a panic ends the program
		}(number, body)
	}
	group.Wait()
}

func main() {
	var a, b sync.Mutex
	var once sync.Once
	var group sync.WaitGroup
	var n atomic.Int32
	v := sync.NewCond(&a)
	full, meet := make(chan int, 1), make(chan int)
	requests, calls := make(chan kind, 2), make(chan kind)
	asks := func() { requests <- put; requests <- get; <-meet; requests <- stop }
	selects := func() {
		select {
		case <-full:
		case kind := <-calls:
			if kind == put {
				<-meet
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	inLoop := func() {
		for n.Load() == 0 {
			v.Wait()
		}
	}
	swaps := func() {
		if n.CompareAndSwap(0, 1) {
			<-full
		}
	}
	switch os.Args[1] {
	case "closed, ends":
		all(func() { <-meet }, func() { close(meet) })
	case "the rest is received, ends":
		all(func() { <-full; <-full }, func() { full <- 1; close(full) })
	case "not closed":
		all(func() { <-full; <-full }, func() { full <- 1 })
	case "sent to a closed one":
		all(func() { close(full); full <- 1 })
	case "closed twice":
		all(func() { close(full); close(full) })
	case "a sender meets the end":
		all(func() { meet <- 1 }, func() { close(meet) })
	case "default, ends":
		all(func() {
			select {
			case <-meet:
			default:
			}
		})
	case "no default":
		all(func() {
			select {
			case <-meet:
			case <-full:
			}
		})
	case "time passes, ends":
		all(func() {
			select {
			case <-meet:
			case <-time.After(wait):
			}
		})
	case "one of two, ends":
		all(func() {
			select {
			case meet <- 1:
			case <-ctx.Done():
			}
		}, cancel)
	case "both select, ends":
		all(func() {
			select {
			case meet <- 1:
			case <-full:
			}
		}, func() {
			select {
			case <-meet:
			case <-full:
			}
		})
	case "default only if full, ends":
		all(func() {
			select {
			case full <- 1:
			default:
			}
			<-full
		})
	case "default and full":
		all(func() {
			full <- 1
			select {
			case full <- 1:
			default:
				full <- 1
			}
		})
	case "select under a lock":
		all(func() {
			a.Lock()
			select {
			case meet <- 1:
			}
			a.Unlock()
		}, func() { a.Lock(); a.Unlock(); <-meet })
	case "group, ends":
		group.Add(2)
		go group.Done()
		go group.Done()
		group.Wait()
	case "group, one short":
		group.Add(2)
		go group.Done()
		group.Wait()
	case "group under a lock":
		group.Add(1)
		a.Lock()
		go func() { a.Lock(); group.Done(); a.Unlock() }()
		group.Wait()
		a.Unlock()
	case "group below zero":
		group.Done()
	case "group, reused too early":
		group.Add(1)
		go func() { pause(); group.Done(); group.Add(1); pause(); group.Done() }()
		group.Wait()
	case "once, ends":
		body := func() { <-full }
		all(func() { once.Do(body) }, func() { once.Do(body) }, func() { full <- 1 })
	case "once in itself":
		all(func() { once.Do(func() { once.Do(func() {}) }) })
	case "once and a lock":
		all(func() { once.Do(func() { pause(); a.Lock(); a.Unlock() }) },
			func() { a.Lock(); pause(); once.Do(func() {}); a.Unlock() })
	case "released by another, ends":
		all(func() { a.Lock(); full <- 1; a.Lock(); a.Unlock() }, func() { <-full; a.Unlock() })
	case "released by nobody":
		all(func() { a.Lock(); a.Lock() })
	case "released, not locked":
		all(func() { a.Unlock() })
	case "signal lost":
		all(v.Signal, func() { a.Lock(); v.Wait(); a.Unlock() })
	case "waits in a loop, ends":
		all(func() { a.Lock(); inLoop(); a.Unlock() }, func() { a.Lock(); n.Store(1); v.Signal(); a.Unlock() })
	case "one signal for two":
		waits := func() { a.Lock(); inLoop(); a.Unlock() }
		all(waits, waits, func() { a.Lock(); n.Store(1); v.Signal(); a.Unlock() })
	case "broadcast for two, ends":
		waits := func() { a.Lock(); inLoop(); a.Unlock() }
		all(waits, waits, func() { a.Lock(); n.Store(1); v.Broadcast(); a.Unlock() })
	case "waits under another lock":
		all(func() { b.Lock(); a.Lock(); inLoop(); a.Unlock(); b.Unlock() },
			func() { b.Lock(); a.Lock(); n.Store(1); v.Broadcast(); a.Unlock(); b.Unlock() })
	case "canceled twice, ends":
		all(func() { <-ctx.Done() }, func() { cancel(); cancel() })
	case "not canceled":
		all(func() { <-ctx.Done() })
	case "a group of errors, ends":
		group.Add(2)
		go func() { defer group.Done(); <-ctx.Done() }()
		go func() { defer group.Done(); cancel() }()
		group.Wait()
	case "a group of errors, canceled late":
		group.Add(1)
		go func() { defer group.Done(); <-ctx.Done() }()
		group.Wait()
		cancel()
	case "started under a lock, ends":
		a.Lock()
		done := make(chan int)
		go func() { a.Lock(); a.Unlock(); close(done) }()
		a.Unlock()
		<-done
	case "swapped once, ends":
		all(swaps, swaps, func() { full <- 1 })
	case "spins, ends":
		all(func() {
			for n.Load() != 1 {
				time.Sleep(time.Millisecond)
			}
		}, func() { n.Store(1) })
	case "answers by kind, ends":
		all(func() {
			for i := 0; i < 3; i++ {
				switch <-requests {
				case put, stop:
				case get:
					meet <- 1
				}
			}
		}, asks)
	case "answers a kind too many":
		all(func() {
			for i := 0; i < 3; i++ {
				switch <-requests {
				case put, get:
					meet <- 1
				case stop:
				}
			}
		}, asks)
	case "first in, first out, ends":
		all(func() {
			requests <- put
			requests <- get
			if <-requests != put {
				<-meet
			}
			if <-requests != get {
				<-meet
			}
		})
	case "the end after the kinds, ends":
		all(func() {
			requests <- get
			close(requests)
			if kind, open := <-requests; !open || kind == put {
				<-meet
			}
			if _, open := <-requests; open {
				<-meet
			}
		})
	case "selects by kind, ends":
		all(selects, func() { calls <- get })
	case "selects another kind":
		all(selects, func() { calls <- put })
	case "called by kind under a lock":
		all(func() { a.Lock(); calls <- get; a.Unlock() }, func() {
			a.Lock()
			a.Unlock()
			switch <-calls {
			case put, get:
			}
		})
	default:
		panic(os.Args[1])
	}
	_ = cancel
}

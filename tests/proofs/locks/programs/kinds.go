// A scenario of each kind of deadlock, and of programs like it that end. The runtime's own detector ends those that do not.
package main

import (
	"os"
	"sync"
	"time"
)

const wait = 100 * time.Millisecond

// all runs functions as goroutines, each a little later than the one before, and waits for them.
func all(bodies ...func()) {
	var group sync.WaitGroup
	for number, body := range bodies {
		group.Add(1)
		go func(number int, body func()) {
			defer group.Done()
			time.Sleep(time.Duration(number) * wait)
			body()
		}(number, body)
	}
	group.Wait()
}

func main() {
	var a, b sync.Mutex
	var r, s sync.RWMutex
	full, meet := make(chan int, 1), make(chan int)
	pause := func() { time.Sleep(6 * wait) }
	switch os.Args[1] {
	case "AB":
		all(func() { a.Lock(); pause(); b.Lock(); b.Unlock(); a.Unlock() },
			func() { b.Lock(); pause(); a.Lock(); a.Unlock(); b.Unlock() })
	case "AB, ends":
		all(func() { a.Lock(); pause(); b.Lock(); b.Unlock(); a.Unlock() },
			func() { b.Lock(); pause(); b.Unlock(); a.Lock(); a.Unlock() })
	case "AB of readers, with writers":
		all(func() { r.RLock(); pause(); s.RLock(); s.RUnlock(); r.RUnlock() },
			func() { s.RLock(); pause(); r.RLock(); r.RUnlock(); s.RUnlock() },
			func() { r.Lock(); r.Unlock() },
			func() { s.Lock(); s.Unlock() })
	case "AB of readers, ends":
		all(func() { r.RLock(); pause(); s.RLock(); s.RUnlock(); r.RUnlock() },
			func() { s.RLock(); pause(); r.RLock(); r.RUnlock(); s.RUnlock() })
	case "RR":
		all(func() { r.RLock(); pause(); r.RLock(); r.RUnlock(); r.RUnlock() },
			func() { r.Lock(); r.Unlock() })
	case "RR, ends":
		all(func() { r.RLock(); pause(); r.RLock(); r.RUnlock(); r.RUnlock() },
			func() { r.RLock(); r.RUnlock() })
	case "SELF":
		all(func() { a.Lock(); a.Lock() })
	case "SELF of a reader":
		all(func() { r.RLock(); r.Lock() })
	case "CH":
		all(func() { a.Lock(); meet <- 1; a.Unlock() },
			func() { a.Lock(); a.Unlock(); <-meet })
	case "CH, ends":
		all(func() { a.Lock(); full <- 1; a.Unlock() },
			func() { a.Lock(); a.Unlock(); <-full })
	case "LK":
		all(func() { a.Lock() }, func() { a.Lock(); a.Unlock() })
	case "MSG":
		all(func() { <-full })
	case "UNLOCK":
		all(func() { a.Lock(); a.Unlock(); a.Unlock() })
	default:
		panic(os.Args[1])
	}
}

// Scenarios of locks that are tried. A scenario that deadlocks ends with an error of the runtime's own detector.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

const wait = 100 * time.Millisecond

// both runs two goroutines that hold a lock each while they want the other's.
func both(one, two func()) {
	var group sync.WaitGroup
	group.Add(2)
	go func() { defer group.Done(); one() }()
	go func() { defer group.Done(); two() }()
	group.Wait()
}

// under holds one lock while it waits for, or tries, the other.
func under(held, wanted *sync.Mutex, tries bool) func() {
	return func() {
		held.Lock()
		defer held.Unlock()
		time.Sleep(wait)
		if !tries {
			wanted.Lock()
		} else if !wanted.TryLock() {
			return
		}
		wanted.Unlock()
	}
}

func semantics() {
	var mutex sync.Mutex
	mutex.Lock()
	fmt.Println("held", mutex.TryLock())
	var lock sync.RWMutex
	lock.RLock()
	fmt.Println("read", lock.TryLock())
	again := lock.TryRLock()
	fmt.Println("read again", again)
	lock.RUnlock()
	go lock.Lock()
	time.Sleep(wait)
	fmt.Println("announced", lock.TryRLock())
	var free sync.Mutex
	fmt.Println("free", free.TryLock())
}

func main() {
	var a, b sync.Mutex
	switch os.Args[1] {
	case "both wait":
		both(under(&a, &b, false), under(&b, &a, false))
	case "one tries":
		both(under(&a, &b, true), under(&b, &a, false))
	case "both try":
		both(under(&a, &b, true), under(&b, &a, true))
	case "what is tried is held":
		both(func() {
			if a.TryLock() {
				time.Sleep(wait)
				b.Lock()
			}
		}, under(&b, &a, false))
	case "what is held is tried":
		a.Lock()
		if a.TryLock() {
			a.Unlock()
		}
		a.Unlock()
	case "semantics":
		semantics()
	default:
		panic(os.Args[1])
	}
}

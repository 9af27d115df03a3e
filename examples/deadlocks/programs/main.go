// Deadlocks of public record in a few lines each, with the locks of the originals. Build them with -gcflags='-N -l',
// so that stacks have the addresses of objects; see ../README.md.
package main

import (
	"os"
	"sync"
	"time"
)

// Each program runs its goroutines, broken or fixed, until all have ended.
var programs = map[string]func(fixed bool){}

// meanwhile gives the other goroutines the time to come to their locks.
func meanwhile(times time.Duration) { time.Sleep(times * 100 * time.Millisecond) }

// together runs functions at once and waits for them.
func together(all ...func()) {
	var group sync.WaitGroup
	for _, each := range all {
		group.Add(1)
		go func(run func()) {
			defer group.Done()
			run()
		}(each)
	}
	group.Wait()
}

func main() {
	programs[os.Args[1]](len(os.Args) > 2)
	println("ended")
}

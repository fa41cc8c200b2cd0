// Command poller lets Go's runtime wake its poller, over and over.
package main

import (
	"runtime"
	"time"
)

func main() {
	runtime.GOMAXPROCS(2) // one thread polls, one has work
	go func() {
		for {
			time.AfterFunc(time.Microsecond, func() {})
		}
	}()
	time.Sleep(time.Hour)
}

//go:build !asan && !msan

package gobind_test

import (
	"fmt"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
	"github.com/dlpackgen/dlpackgen/tests/gobind"
)

// Not under a sanitizer, which ends a program whose consumers release twice.
func ExampleDoubleReleases() {
	before := dlpack.DoubleReleases()
	p := must(dlpack.Export(make([]byte, 16)))
	gobind.Consume(p)
	gobind.Consume(p) // a bug of the consumer
	fmt.Println(dlpack.DoubleReleases() - before)
	// Output: 1
}

package gobind_test

import (
	"fmt"
	"math"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

func ExampleBFloat16From() {
	fmt.Println(dlpack.BFloat16From(3.3), dlpack.BFloat16From(1e30))
	// Output: 3.3 1e+30
}

func ExampleBFloat16Saturated() {
	fmt.Println(dlpack.BFloat16Saturated(3.3), dlpack.BFloat16Saturated(float32(math.Inf(1))))
	// Output: 3.3 3.39e+38
}

func ExampleFloat16Saturated() {
	fmt.Println(dlpack.Float16Saturated(3.3), dlpack.Float16Saturated(float32(math.Inf(1))))
	// Output: 3.3 65500
}

func ExampleFloat8E3M4From() {
	fmt.Println(dlpack.Float8E3M4From(3.3), dlpack.Float8E3M4From(1e30))
	// Output: 3.25 +Inf
}

func ExampleFloat8E3M4Saturated() {
	fmt.Println(dlpack.Float8E3M4Saturated(3.3), dlpack.Float8E3M4Saturated(float32(math.Inf(1))))
	// Output: 3.25 15.5
}

func ExampleFloat8E4M3From() {
	fmt.Println(dlpack.Float8E4M3From(3.3), dlpack.Float8E4M3From(1e30))
	// Output: 3.25 +Inf
}

func ExampleFloat8E4M3Saturated() {
	fmt.Println(dlpack.Float8E4M3Saturated(3.3), dlpack.Float8E4M3Saturated(float32(math.Inf(1))))
	// Output: 3.25 240
}

func ExampleFloat8E4M3B11FNUZFrom() {
	fmt.Println(dlpack.Float8E4M3B11FNUZFrom(3.3), dlpack.Float8E4M3B11FNUZFrom(1e30))
	// Output: 3.25 NaN
}

func ExampleFloat8E4M3B11FNUZSaturated() {
	fmt.Println(dlpack.Float8E4M3B11FNUZSaturated(3.3), dlpack.Float8E4M3B11FNUZSaturated(float32(math.Inf(1))))
	// Output: 3.25 30
}

func ExampleFloat8E4M3FNSaturated() {
	fmt.Println(dlpack.Float8E4M3FNSaturated(3.3), dlpack.Float8E4M3FNSaturated(float32(math.Inf(1))))
	// Output: 3.25 448
}

func ExampleFloat8E4M3FNUZFrom() {
	fmt.Println(dlpack.Float8E4M3FNUZFrom(3.3), dlpack.Float8E4M3FNUZFrom(1e30))
	// Output: 3.25 NaN
}

func ExampleFloat8E4M3FNUZSaturated() {
	fmt.Println(dlpack.Float8E4M3FNUZSaturated(3.3), dlpack.Float8E4M3FNUZSaturated(float32(math.Inf(1))))
	// Output: 3.25 240
}

func ExampleFloat8E5M2From() {
	fmt.Println(dlpack.Float8E5M2From(3.3), dlpack.Float8E5M2From(1e30))
	// Output: 3.5 +Inf
}

func ExampleFloat8E5M2Saturated() {
	fmt.Println(dlpack.Float8E5M2Saturated(3.3), dlpack.Float8E5M2Saturated(float32(math.Inf(1))))
	// Output: 3.5 57344
}

func ExampleFloat8E5M2FNUZFrom() {
	fmt.Println(dlpack.Float8E5M2FNUZFrom(3.3), dlpack.Float8E5M2FNUZFrom(1e30))
	// Output: 3.5 NaN
}

func ExampleFloat8E5M2FNUZSaturated() {
	fmt.Println(dlpack.Float8E5M2FNUZSaturated(3.3), dlpack.Float8E5M2FNUZSaturated(float32(math.Inf(1))))
	// Output: 3.5 57344
}

func ExampleFloat8E8M0FNUFrom() {
	fmt.Println(dlpack.Float8E8M0FNUFrom(3.3), dlpack.Float8E8M0FNUFrom(1e30))
	// Output: 4 1.2676506e+30
}

func ExampleFloat8E8M0FNUSaturated() {
	fmt.Println(dlpack.Float8E8M0FNUSaturated(3.3), dlpack.Float8E8M0FNUSaturated(float32(math.Inf(1))))
	// Output: 4 1.7014118e+38
}

func ExampleFloat4E2M1FNFrom() {
	fmt.Println(dlpack.Float4E2M1FNFrom(3.3), dlpack.Float4E2M1FNFrom(1e30))
	// Output: 3 6
}

func ExampleFloat6E2M3FNFrom() {
	fmt.Println(dlpack.Float6E2M3FNFrom(3.3), dlpack.Float6E2M3FNFrom(1e30))
	// Output: 3.25 7.5
}

func ExampleFloat6E3M2FNFrom() {
	fmt.Println(dlpack.Float6E3M2FNFrom(3.3), dlpack.Float6E3M2FNFrom(1e30))
	// Output: 3.5 28
}

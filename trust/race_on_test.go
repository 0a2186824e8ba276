//go:build race

package trust

// raceDetector says that everything takes ten times as long; there is one goroutine anyway.
const raceDetector = true

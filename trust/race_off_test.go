//go:build !race

package trust

const raceDetector = false

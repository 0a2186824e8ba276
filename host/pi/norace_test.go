//go:build !race

package pi

const raceEnabled = false

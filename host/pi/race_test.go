//go:build race

package pi

const raceEnabled = true

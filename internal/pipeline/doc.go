// Package pipeline takes one utterance through capture, transcribe, grammar, game, synth and playback.
//
// It is the only place that knows this order. Each stage adds its product to one Record and leaves a receipt in the
// utterance's evidence folder; the stages themselves know neither each other nor where evidence lives.
//
// # When something goes wrong
//
// A stage that refuses, fails or is cancelled ends the course: nothing is sent after it, and the later stages get a
// receipt that says why they were skipped, so that the manifest is sealed in every case. The reply is still made for a
// refusal, so that a person hears it. When evidence can't be written, nothing more is sent, the record in memory goes
// on to the end and is returned with the error: an outcome that was reached is never lost.
package pipeline

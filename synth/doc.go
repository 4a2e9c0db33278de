// Package synth turns the record of an utterance into one of a closed set of fixed sentences, in Slovak, Czech and
// English, and speaks it to a bounded, checked WAV.
//
// A sentence never says more than the record: what the client said is "the game reports", a stop that was seen is
// "cancelled" and never "undone", and an effect that nobody saw is "not known". The first words of a sentence tell its
// class, so that a listener knows at once whether something was refused, started, reported, cancelled or unknown.
package synth

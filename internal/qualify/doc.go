// Package qualify judges a recogniser by a labelled corpus: the manifest, the outcomes, their statistics, the
// comparison with an earlier report and the fitting of thresholds.
//
// No engine is in it. A run measures each clip once with nothing refused; what the figures of a clip come to under
// thresholds is then asked of transcribe.Thresholds.Decide, as often as a curve or a fit needs. Every share comes with
// the numbers that it is made of and its 95 % Wilson interval.
package qualify

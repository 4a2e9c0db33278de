// Package evidence keeps what happened to each utterance, in private folders that can be checked later.
//
//	<root>/<session>/session.json               who and when; written once
//	<root>/<session>/head.json                  how many utterances began and were sealed, and the last manifest's digest
//	<root>/<session>/u000001/1-capture … 6-playback/
//	<root>/<session>/u000001/manifest.json      every file's name, size and digest, and the previous manifest's digest; written last
//
// A stage's folder appears when the stage begins, with a started.json; its receipt.json replaces that mark when the
// stage ends. A folder without a receipt is a stage that started and did not end. An utterance without a manifest is
// running or was interrupted; nothing here repairs it.
//
// # What Verify can find
//
// Each manifest covers every file of its utterance; the next manifest covers it, and head.json covers the last one
// and session.json; the fields of head.json are compared with what they describe. So one changed byte, one missing,
// added or renamed file, anywhere in a session, is found. Somebody who may write the folder can still rewrite
// everything consistently: all manifests from the changed utterance on, and head.json; or remove a whole session.
// Against that only a copy of the last manifest's digest helps that is kept elsewhere: Session.Head and
// Report.Head give it.
package evidence

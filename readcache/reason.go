package readcache

// Reason is a code for why a read was answered as it was. Every plain read has one, so that
// status, doctor and tests can see why nothing was saved (spec 8.2).
type Reason string

// The reasons. Those up to ReasonRepeat are answers with metadata; the rest are plain reads that
// leave no trust behind.
const (
	ReasonClaim         Reason = "claim"          // a stub or a diff was served
	ReasonNoBase        Reason = "no_base"        // nothing provable in this branch
	ReasonChanged       Reason = "range_changed"  // the lines asked for differ from the base
	ReasonNoObject      Reason = "base_missing"   // the base version is not in the store, or not intact
	ReasonUnproven      Reason = "base_unproven"  // a delivery by another tool does not match its version
	ReasonNoSaving      Reason = "no_saving"      // the claim would not be shorter than the plain read
	ReasonRepeat        Reason = "repeated"       // two claims for these lines in a row: the model cannot find them
	ReasonDisabled      Reason = "disabled"       // setting "enabled" is false
	ReasonExcluded      Reason = "excluded"       // the path may hold secrets
	ReasonArguments     Reason = "odd_arguments"  // offset or limit is not a positive integer: the host decides
	ReasonNotFound      Reason = "not_found"      // the host's own error follows
	ReasonUnreadable    Reason = "unreadable"     // no permission, input/output error
	ReasonNotRegular    Reason = "not_regular"    // directory, device, pipe
	ReasonNotText       Reason = "not_text"       // not strict UTF-8
	ReasonTooLarge      Reason = "too_large"      // beyond maxFileBytes
	ReasonNoKey         Reason = "no_key"         // the path and its cleaned form are two files
	ReasonPastEnd       Reason = "past_end"       // the host's own error follows
	ReasonNothing       Reason = "nothing_shown"  // the first line is over the host's limit
	ReasonCancelled     Reason = "cancelled"      // the request was given up
	ReasonBadRange      Reason = "bad_range"      // path:start-end that is no range; answered with an error
	ReasonInternalError Reason = "internal_error" // a defect of deja
)

/* Texts out of a few that several results have, by number: for `choice` of a field (fields.h). */
#ifndef LODE_RESULT_FIELD_CHOICES_H
#define LODE_RESULT_FIELD_CHOICES_H

/* Each returns NULL behind the last. */
const char *lode_choice_scope(unsigned number); /* that a result may have: not "auto" */
const char *lode_choice_layer(unsigned number);
const char *lode_choice_own(unsigned number);
const char *lode_choice_no_cause(unsigned number);
const char *lode_choice_signature_state(unsigned number);
/* What can be checked and shown: "corpus", "stream". */
const char *lode_choice_path_kind(unsigned number);
/* What lode mine can be asked for: "wait", "run", "both". */
const char *lode_choice_mined_kind(unsigned number);

#endif

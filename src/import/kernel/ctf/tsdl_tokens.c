/* Words of TSDL: see tsdl_tokens.h. */
#include "import/kernel/ctf/tsdl_tokens.h"

#include <string.h>

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int starts(const struct lode_tsdl_tokens *tokens, const char *text)
{
	size_t length = strlen(text);

	return (size_t)(tokens->end - tokens->next) >= length && memcmp(tokens->next, text, length) == 0;
}

/* Steps behind the first `text`, or to the end. */
static void skip_behind(struct lode_tsdl_tokens *tokens, const char *text)
{
	while (tokens->next < tokens->end && !starts(tokens, text))
		tokens->line += *tokens->next++ == '\n';
	if (tokens->next < tokens->end)
		tokens->next += text[0] == '\n' ? 0 : strlen(text);
}

static void skip_space(struct lode_tsdl_tokens *tokens)
{
	while (tokens->next < tokens->end) {
		if (*tokens->next == '\n')
			tokens->line++;
		if (strchr(" \t\r\n\f\v", *tokens->next) && *tokens->next) {
			tokens->next++;
		} else if (starts(tokens, "/*")) {
			tokens->next += 2;
			skip_behind(tokens, "*/");
		} else if (starts(tokens, "//")) {
			skip_behind(tokens, "\n");
		} else {
			return;
		}
	}
}

static void scan_name(struct lode_tsdl_tokens *tokens)
{
	while (tokens->next < tokens->end && (is_letter(*tokens->next) || is_digit(*tokens->next)))
		tokens->next++;
	tokens->token.kind = LODE_TSDL_NAME;
}

static int digit_of(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* Decimal, 0x…, or octal after a 0, with the suffixes of C. */
static void scan_number(struct lode_tsdl_tokens *tokens)
{
	struct lode_tsdl_token *token = &tokens->token;
	int base = 10;

	token->kind = LODE_TSDL_NUMBER;
	token->number = 0;
	if (starts(tokens, "0x") || starts(tokens, "0X")) {
		base = 16;
		tokens->next += 2;
	} else if (*tokens->next == '0') {
		base = 8;
	}
	for (; tokens->next < tokens->end && digit_of(*tokens->next) < base; tokens->next++)
		if (__builtin_mul_overflow(token->number, (uint64_t)base, &token->number) ||
		    __builtin_add_overflow(token->number, (uint64_t)digit_of(*tokens->next), &token->number))
			token->kind = LODE_TSDL_BAD;
	while (tokens->next < tokens->end && strchr("uUlL", *tokens->next) && *tokens->next)
		tokens->next++;
	if (tokens->next < tokens->end && (is_letter(*tokens->next) || is_digit(*tokens->next)))
		token->kind = LODE_TSDL_BAD;
}

/* Texts with a backslash are left to those who know what it means. */
static void scan_text(struct lode_tsdl_tokens *tokens)
{
	struct lode_tsdl_token *token = &tokens->token;

	token->kind = LODE_TSDL_TEXT;
	token->text = ++tokens->next;
	while (tokens->next < tokens->end && *tokens->next != '"') {
		if (*tokens->next == '\\' || *tokens->next == '\n' || *tokens->next == '\0')
			token->kind = LODE_TSDL_BAD;
		tokens->next++;
	}
	token->length = (size_t)(tokens->next - token->text);
	if (tokens->next == tokens->end)
		token->kind = LODE_TSDL_BAD;
	else
		tokens->next++;
}

static void scan_mark(struct lode_tsdl_tokens *tokens)
{
	tokens->token.kind = strchr("{}[]()<>;:=,.-+", *tokens->next) && *tokens->next ? LODE_TSDL_MARK
										       : LODE_TSDL_BAD;
	if (starts(tokens, "..."))
		tokens->next += 3;
	else
		tokens->next += starts(tokens, ":=") ? 2 : 1;
}

void lode_tsdl_advance(struct lode_tsdl_tokens *tokens)
{
	struct lode_tsdl_token *token = &tokens->token;

	skip_space(tokens);
	token->text = tokens->next;
	if (tokens->next == tokens->end) {
		token->kind = LODE_TSDL_END;
		token->length = 0;
		return;
	}
	if (*tokens->next == '"') {
		scan_text(tokens);
		return;
	}
	if (is_letter(*tokens->next))
		scan_name(tokens);
	else if (is_digit(*tokens->next))
		scan_number(tokens);
	else
		scan_mark(tokens);
	token->length = (size_t)(tokens->next - token->text);
}

void lode_tsdl_start(struct lode_tsdl_tokens *tokens, const char *text, size_t size)
{
	*tokens = (struct lode_tsdl_tokens){ .next = text, .end = text + size, .line = 1 };
	lode_tsdl_advance(tokens);
}

int lode_tsdl_at(const struct lode_tsdl_tokens *tokens, const char *word)
{
	const struct lode_tsdl_token *token = &tokens->token;

	return (token->kind == LODE_TSDL_NAME || token->kind == LODE_TSDL_MARK) && token->length == strlen(word) &&
	       memcmp(token->text, word, token->length) == 0;
}

int lode_tsdl_skip(struct lode_tsdl_tokens *tokens, const char *word)
{
	if (!lode_tsdl_at(tokens, word))
		return 0;
	lode_tsdl_advance(tokens);
	return 1;
}

/*
 * Reading CTF: see ctf.h. Our own decoder comes first; what it does not know goes through a module that is loaded when
 * it is needed (ctf_module.h).
 *
 * The module is looked for beside the program (or the library) that this code is in, where a build has it, then
 * where it is installed. Once loaded it stays loaded: glib cannot be unloaded safely.
 */
#include "import/kernel/ctf/ctf_apart.h"

#include "base/memory.h"
#include "base/program_folder.h"
#include "import/kernel/ctf/ctf_native.h"
#include "import/modules_folder.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

/* The module in `folder`, or `folder/below`; NULL when there is none. */
static void *load_from(const char *folder, const char *below)
{
	char *path = lode_format("%s/%s" LODE_CTF_MODULE_FILE, folder, below);
	void *library = path && access(path, R_OK) == 0 ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;

	lode_free(path);
	return library;
}

/* The folder of the file that this code was loaded from; for the caller to free. */
static char *own_folder(void)
{
	const char *slash;
	Dl_info info;

	/* of the program itself dladdr knows only what it was called as */
	if (!dladdr(LODE_CTF_MODULE_SYMBOL, &info) || !strstr(info.dli_fname, ".so"))
		return lode_program_folder();
	slash = strrchr(info.dli_fname, '/');
	return slash ? lode_strndup(info.dli_fname, (size_t)(slash - info.dli_fname)) : NULL;
}

static void *load(void)
{
	static const char *const places[] = { "", "../import/", "src/import/", "../../src/import/" };
	char *folder = own_folder();
	void *library = NULL;

	for (size_t i = 0; folder && !library && i < sizeof(places) / sizeof(*places); i++)
		library = load_from(folder, places[i]);
	lode_free(folder);
	return library ? library : load_from(LODE_MODULES_FOLDER, "");
}

int lode_ctf_read_library(const char *folder, const struct lode_ctf_taker *taker, const char *unknown,
			  struct lode_error *error)
{
	void *library = load();
	const struct lode_ctf_module *module = library ? dlsym(library, LODE_CTF_MODULE_SYMBOL) : NULL;
	const char *reason;

	if (module && module->version == LODE_CTF_MODULE_VERSION &&
	    module->event_size == sizeof(struct lode_ctf_event))
		return lode_ctf_read_apart(module, folder, taker, error);
	reason = module ? "it is of another version" : dlerror();
	return lode_fail(error, LODE_BAD_INPUT,
			 "%s: its metadata is damaged, or of a kind that only libbabeltrace2 reads (%.300s); the "
			 "module " LODE_CTF_MODULE_FILE
			 " for it cannot be loaded (%.300s); install libbabeltrace2, or build lode "
			 "where libbabeltrace2-dev is installed",
			 folder, unknown, reason ? reason : "there is none");
}

int lode_ctf_read(const char *folder, const struct lode_ctf_taker *taker, struct lode_error *error)
{
	struct lode_error unknown = { 0 };
	int code = lode_ctf_read_native(folder, taker, &unknown);

	if (code == 1)
		return lode_ctf_read_library(folder, taker, unknown.text, error);
	return code < 0 ? lode_fail(error, code, "%s", unknown.text) : 0;
}

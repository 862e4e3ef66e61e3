"""Source packages of Debian, fetched with an apt configuration of our own and built in a folder of our own."""
import glob
import os
import re
import shutil
import subprocess

from measuring import say


class Missing(Exception):
    """Something cannot be had; the text says what."""


def run(command, **more):
    """Runs quietly; what goes wrong is Missing."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              universal_newlines=True, errors='replace', **more)
    except OSError as error:
        raise Missing('%s: %s' % (command[0], error.strerror)) from error
    if done.returncode:
        raise Missing('%s failed: %s' % (' '.join(command[:3]), (done.stdout.strip().split('\n') or [''])[-1]))
    return done.stdout


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Missing('there is no ' + program)


def distribution():
    """What a line of sources.list says of this system: address and suite."""
    text = ''
    for path in glob.glob('/etc/apt/sources.list') + sorted(glob.glob('/etc/apt/sources.list.d/*')):
        with open(path, encoding='utf-8') as file:
            text += file.read() + '\n\n'
    deb822 = re.search(r'^URIs:\s*(\S+).*?^Suites:\s*(\S+)', text, re.M | re.S)
    line = re.search(r'^deb\s+(?:\[.*?\]\s+)?(\S+)\s+(\S+)', text, re.M)
    found = line or deb822
    if not found:
        raise Missing('apt has no list of sources')
    return found.groups()


class Sources:
    """Fetches and unpacks source packages below `folder`; what is there already is left alone."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        self.options = None

    def configure(self):
        need('apt-get', 'dpkg-source')
        state = os.path.join(self.folder, 'apt')
        for name in ('lists/partial', 'cache/archives/partial'):
            os.makedirs(os.path.join(state, name), exist_ok=True)
        with open(os.path.join(state, 'sources.list'), 'w', encoding='utf-8') as file:
            file.write('deb-src %s %s main\n' % distribution())
        settings = {'Dir::Etc::sourcelist': state + '/sources.list', 'Dir::Etc::sourceparts': '-',
                    'Dir::State::lists': state + '/lists', 'Dir::Cache': state + '/cache',
                    'APT::Sandbox::User': 'root'}
        self.options = [word for pair in settings.items() for word in ('-o', '%s=%s' % pair)]
        run(['apt-get', '-q', *self.options, 'update'])

    def get(self, package):
        """The folder of the package's unpacked source."""
        place = os.path.join(self.folder, package)
        unpacked = os.path.join(place, 'source')
        if os.path.isdir(unpacked):
            return unpacked
        if self.options is None:
            self.configure()
        say('fetching the source of ' + package)
        os.makedirs(place, exist_ok=True)
        try:
            run(['apt-get', '-q', *self.options, '--download-only', 'source', package], cwd=place)
        except Missing:
            return self.original(package, place, unpacked)
        description, = glob.glob(os.path.join(place, '*.dsc'))
        run(['dpkg-source', '--no-check', '-x', description, unpacked], cwd=place)
        return unpacked

    @staticmethod
    def original(package, place, unpacked):
        """A mirror may lack Debian's changes to a package; what its authors published serves as well."""
        archives = glob.glob(os.path.join(place, '*.orig.tar.*'))
        if len(archives) != 1:
            raise Missing('the source of %s cannot be fetched' % package)
        say("%s is taken without Debian's changes, which cannot be fetched" % package)
        partial = unpacked + '.partial'
        os.makedirs(partial, exist_ok=True)
        run(['tar', '-x', '--no-same-owner', '--strip-components=1', '-C', partial, '-f', archives[0]])
        os.rename(partial, unpacked)
        return unpacked

    def repository(self, name, address, paths=(), branch=None):
        """The folder of a clone of a public repository; `paths`: all of it that is needed."""
        place = os.path.join(self.folder, name, 'source')
        if os.path.isdir(place):
            return place
        need('git')
        say('fetching ' + address)
        partial = place + '.partial'
        shutil.rmtree(partial, ignore_errors=True)
        try:
            run(['git', 'clone', '-q', '--depth', '1', *(['--branch', branch] if branch else []), '--filter=blob:none',
                 '--no-checkout', address, partial])
            run(['git', '-C', partial, 'checkout', '-q', 'HEAD', '--', *(paths or ['.'])])
        except Missing as missing:
            raise Missing('%s cannot be fetched; put it into %s' % (address, place)) from missing
        os.rename(partial, place)
        return place

    def sqlite(self):
        """The folder with SQLite in one file, sqlite3.c, and the folder of its source."""
        source = self.get('sqlite3')
        made = os.path.join(self.folder, 'sqlite3', 'made')
        if not os.path.exists(os.path.join(made, 'sqlite3.c')):
            need('tclsh', 'make')
            os.makedirs(made, exist_ok=True)
            run([os.path.join(source, 'configure'), '--disable-tcl', '--disable-readline'], cwd=made)
            run(['make', 'sqlite3.c'], cwd=made)
        return made, source


def replace_in(path, old, new, to):
    """Writes a copy with one text changed, which must be there."""
    with open(path, encoding='utf-8', errors='surrogateescape') as file:
        text = file.read()
    if text.count(old) != 1:
        raise Missing('%s is another version: %r occurs %d times' % (path, old, text.count(old)))
    with open(to, 'w', encoding='utf-8', errors='surrogateescape') as file:
        file.write(text.replace(old, new))

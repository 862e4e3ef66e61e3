"""The programs that bench/hunt hunts: three sequential ones and three of MPI, built from source: packages of Debian, and
two of the programs of the Deep Start paper, ALARA and su3_rmd, from their repositories.

Each is a class with `command(seconds)`: what to run so that it takes about so long on an idle machine, in `folder`.
"""
import glob
import os
import random
import re
import shutil

from measuring import say
from sources import Missing, need, replace_in, run

FLAGS = ['-O2', '-g', '-fno-omit-frame-pointer', '-w']
RANKS = 2

# hpcc wants a description of the machine in the form of HPL's makefiles.
HPL_MAKEFILE = """SHELL = /bin/sh
CD = cd
CP = cp
LN_S = ln -sf
MKDIR = mkdir -p
RM = rm -f
TOUCH = touch
ARCH = lode
TOPdir = ../../..
INCdir = $(TOPdir)/include
BINdir = $(TOPdir)/bin/$(ARCH)
LIBdir = $(TOPdir)/lib/$(ARCH)
HPLlib = $(LIBdir)/libhpl.a
F2CDEFS = -DAdd__ -DF77_INTEGER=int -DStringSunStyle
HPL_INCLUDES = -I$(INCdir) -I$(INCdir)/$(ARCH)
HPL_LIBS = $(HPLlib) -lblas -lm
HPL_DEFS = $(F2CDEFS) $(HPL_INCLUDES)
CC = mpicc
CCNOOPT = $(HPL_DEFS) -w
CCFLAGS = $(HPL_DEFS) {flags}
LINKER = mpicc
ARCHIVER = ar
ARFLAGS = r
RANLIB = echo
"""


def edit(path, what, to):
    """Replaces what a pattern finds in a file; it must find something."""
    with open(path, encoding='utf-8') as file:
        text, changed = re.subn(what, to, file.read())
    if not changed:
        raise Missing('%s is another version' % path)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def mpirun(*command):
    return ['mpirun', '-np', str(RANKS), *command]


class Program:
    name = comm = ''
    processes = 1

    def __init__(self, folder, sources):
        self.folder, self.sources = os.path.join(folder, self.comm), sources
        self.program = os.path.join(self.folder, self.comm)
        os.makedirs(self.folder, exist_ok=True)
        if not os.path.exists(self.program):
            say('building ' + self.name)
            self.build()

    def write(self, name, text):
        with open(os.path.join(self.folder, name), 'w', encoding='utf-8') as file:
            file.write(text)


class FastTree(Program):
    name = comm = 'fasttree'

    def build(self):
        need('gcc')
        source = os.path.join(self.sources.get('fasttree'), 'fasttree.c')
        run(['gcc', *FLAGS, '-o', self.program, source, '-lm'])

    def command(self, seconds):
        """An alignment of sequences that descend from one another, always the same."""
        random.seed(7)
        family = [''.join(random.choices('ACGT', k=600))]
        while len(family) < 60 * seconds:
            parent = random.choice(family)
            family.append(''.join(random.choice('ACGT') if random.random() < 0.08 else letter for letter in parent))
        self.write('alignment', ''.join('>s%d\n%s\n' % pair for pair in enumerate(family)))
        return [self.program, '-quiet', '-nt', '-gtr', '-out', 'tree', 'alignment']


class Sqlite(Program):
    name, comm = 'SQLite speedtest1', 'speedtest1'

    def build(self):
        made, source = self.sources.sqlite()
        run(['gcc', *FLAGS, '-o', self.program, os.path.join(made, 'sqlite3.c'),
             os.path.join(source, 'test/speedtest1.c'), '-I' + made, '-DSQLITE_THREADSAFE=0',
             '-DSQLITE_OMIT_LOAD_EXTENSION', '-lm'])

    def command(self, seconds):
        return [self.program, '--size', str(40 * seconds), '--memdb']


class MrBayes(Program):
    name, comm = 'MrBayes, MPI', 'mb'
    processes = RANKS

    def build(self):
        need('mpicc', 'mpirun', 'make')
        source, made = self.sources.get('mrbayes'), os.path.join(self.folder, 'made')
        os.makedirs(made, exist_ok=True)
        run([os.path.join(source, 'configure'), '--with-mpi', '--without-beagle', '--without-readline', 'CC=mpicc',
             'CFLAGS=' + ' '.join(FLAGS)], cwd=made)
        run(['make', '-j2'], cwd=made)
        shutil.copy(os.path.join(source, 'examples/cynmix.nex'), self.folder)
        shutil.copy(os.path.join(made, 'src/mb'), self.program)

    def command(self, seconds):
        self.write('run.nex', 'begin mrbayes;\nset autoclose=yes nowarn=yes;\nexecute cynmix.nex;\n'
                   'lset applyto=(all) rates=gamma;\nmcmc ngen=%d nruns=2 nchains=2 samplefreq=1000 printfreq=1000 '
                   'checkpoint=no savebrlens=no;\nquit;\nend;\n' % (400 * seconds))
        return mpirun(self.program, 'run.nex')


class Hpcc(Program):
    name, comm = 'HPCC, MPI', 'hpcc'
    processes = RANKS

    def build(self):
        need('mpicc', 'mpirun', 'make')
        made = os.path.join(self.folder, 'made')
        shutil.copytree(self.sources.get('hpcc'), made, dirs_exist_ok=True)
        with open(os.path.join(made, 'hpl/Make.lode'), 'w', encoding='utf-8') as file:
            file.write(HPL_MAKEFILE.format(flags=' '.join(FLAGS)))
        run(['make', 'arch=lode'], cwd=made)
        shutil.copy(os.path.join(made, '_hpccinf.txt'), self.folder)
        shutil.copy(os.path.join(made, 'hpcc'), self.program)

    def command(self, seconds):
        with open(os.path.join(self.folder, '_hpccinf.txt'), encoding='utf-8') as file:
            text = file.read()
        for what, value in (('Ns', int(1400 * seconds ** (1 / 3))), ('Ps', 1), ('Qs', RANKS)):
            text, changed = re.subn(r'^\d+(\s+%s)$' % what, r'%d\1' % value, text, flags=re.M)
            if changed != 1:
                raise Missing('the settings of hpcc are those of another version')
        self.write('hpccinf.txt', text)
        return mpirun(self.program)


class Alara(Program):
    """The first of its samples, with many intervals instead of two."""

    name, comm = 'ALARA', 'alara'

    def build(self):
        need('g++')
        source = self.sources.repository('ALARA', 'https://github.com/svalinn/ALARA', ['src', 'sample'])
        self.write('config.h', '#define PACKAGE_STRING "ALARA"\n')
        self.write('dflt_datadir.h', '#define DFLT_DATADIR "."\n#define DFLT_XSDIR "."\n')
        shutil.copytree(os.path.join(source, 'sample/data'), os.path.join(self.folder, 'data'), dirs_exist_ok=True)
        for name in ('sample1', 'sample2'):
            shutil.copy(os.path.join(source, 'sample', name), self.folder)
        os.makedirs(os.path.join(self.folder, 'dump_files'), exist_ok=True)
        files = [path for kind in ('*.C', 'DataLib/*.C', 'DataLib/*.cpp')
                 for path in glob.glob(os.path.join(source, 'src', kind))]
        run(['g++', '-std=gnu++14', *FLAGS, '-I' + os.path.join(source, 'src'), '-I' + self.folder, '-o',
             self.program + '.built', *files])
        run([self.program + '.built', 'sample1'], cwd=self.folder)      # converts the data
        os.rename(self.program + '.built', self.program)

    def command(self, seconds):
        intervals = 30 * seconds
        text = os.path.join(self.folder, 'sample2')
        replace_in(text, '\t1\t5.0', '\t%d\t5.0' % intervals, text + '.input')
        replace_in(text + '.input', '\t1\t6.0', '\t%d\t6.0' % intervals, text + '.input')
        replace_in(text + '.input', 'data/fluxin1', 'flux', text + '.input')
        with open(os.path.join(self.folder, 'data/fluxin1'), encoding='utf-8') as file:
            self.write('flux', file.read() * (intervals + 2))
        return [self.program, '-v', '1', 'sample2.input']


class Su3Rmd(Program):
    name, comm = 'su3_rmd, MPI', 'su3_rmd'
    processes = RANKS
    parts = ['Makefile', 'Make_template_combos', 'Make_template_qop', 'Make_template_scidac', 'include', 'libraries', 'generic',
             'generic_ks', 'generic_wilson', 'ks_imp_dyn']

    def build(self):
        need('mpicc', 'mpirun', 'make')
        source = self.sources.repository('milc_qcd', 'https://github.com/milc-qcd/milc_qcd', self.parts)
        made = os.path.join(self.folder, 'made')
        for name in self.parts:
            copy = shutil.copytree if os.path.isdir(os.path.join(source, name)) else shutil.copy
            copy(os.path.join(source, name), os.path.join(made, name))
        for name in ('sse', 'sse2'):            # are named as dependencies, and not used
            os.makedirs(os.path.join(made, name, 'include'))
        # What MPI-3 has no more, and a file that the makefile forgets.
        edit(os.path.join(made, 'generic/com_mpi.c'), r'MPI_Errhandler_(create|set)',
             lambda found: 'MPI_Comm_%s_errhandler' % found[1])
        edit(os.path.join(made, 'ks_imp_dyn/Make_template'), r'\$\{GAUGE_FORCE\} update\.o',
             lambda found: found[0] + ' reunitarize_ks.o')
        shutil.copy(os.path.join(made, 'Makefile'), os.path.join(made, 'ks_imp_dyn'))
        run(['make', 'MPP=true', 'PRECISION=1', 'WANTQOP=', 'WANTQMP=', 'WANTQIO=', 'OPT=' + ' '.join(FLAGS), 'su3_rmd'],
            cwd=os.path.join(made, 'ks_imp_dyn'))
        shutil.copy(os.path.join(made, 'ks_imp_dyn/su3_rmd'), self.program)

    def command(self, seconds):
        with open(os.path.join(self.folder, 'made/ks_imp_dyn/test/su3_rmd.1.sample-in'), encoding='utf-8') as file:
            text = file.read()
        text = re.sub(r'^(trajecs) \d+', r'\1 %d' % (5 * seconds), text, flags=re.M)
        text = re.sub(r'^reload_serial .*', 'fresh', text, flags=re.M)
        self.write('input', text)
        return mpirun(self.program, 'input')


PROGRAMS = (FastTree, Sqlite, MrBayes, Hpcc, Alara, Su3Rmd)

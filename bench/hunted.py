"""The programs that bench/hunt hunts: two sequential ones and two of MPI, built from Debian's source packages.

Each is a class with `command(seconds)`: what to run so that it takes about so long on an idle machine, in `folder`.
"""
import os
import random
import re
import shutil

from measuring import say
from sources import Missing, need, run

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


PROGRAMS = (FastTree, Sqlite, MrBayes, Hpcc)

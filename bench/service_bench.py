"""What bench/services and bench/languages share: makes problems, asks `lode mine`, judges its first finding, prints a table."""
import argparse
import os
import re
import sys
import traceback

from measuring import say
from service_bed import Bed, Skipped, find_program, machine_is_busy


def read_arguments(title):
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument('--lode', default=os.path.join(here, '..', 'build', 'src', 'cmd', 'lode'))
    parser.add_argument('--keep', action='store_true', help='leave the folders')
    parser.add_argument('--tries', type=int, default=1, metavar='N', help='how often a problem is made while the machine is busy')
    parser.add_argument('--list', action='store_true', help='only list the problems')
    parser.add_argument('problems', nargs='*', metavar='PROBLEM')
    return parser.parse_args()


def names_cause(problem, finding):
    return all(re.search(word, finding['sentence']) for word in problem.words)


def judge(problem, findings, busy):
    """Whether the first finding names the cause, and its sentence."""
    if not findings:
        return 'wrong', 'no finding'
    if names_cause(problem, findings[0]):
        return 'right', findings[0]['sentence']
    others = [finding for finding in findings if finding['kind'] != 'ready']
    if busy and findings[0]['kind'] == 'ready' and others:
        return 'behind ready' if names_cause(problem, others[0]) else 'wrong', others[0]['sentence']
    return 'wrong', findings[0]['sentence']


def try_problem(problem, arguments):
    missing = [name for name in problem.needs if not find_program(name)]
    if missing:
        return 'skipped', 'not installed: ' + ', '.join(missing)
    busy = machine_is_busy()
    bed = Bed(os.path.abspath(arguments.lode))
    try:
        options = problem.function(bed) or []
        bed.end_all()
        return judge(problem, bed.findings(options), busy or machine_is_busy())
    except Skipped as reason:
        return 'skipped', str(reason)
    except Exception as error:  # one problem that fails must not hide the others
        if arguments.keep:
            traceback.print_exc()
        return 'failed', str(error)
    finally:
        bed.close(arguments.keep)
        if arguments.keep:
            say('%s: %s' % (problem.name, bed.folder))


def try_until_quiet(problem, arguments):
    """The verdict and sentence of the first try on a quiet machine, or of the last one, and how many there were."""
    for number in range(1, arguments.tries + 1):
        verdict, sentence = try_problem(problem, arguments)
        if verdict != 'behind ready':
            break
    return verdict, sentence, number


def run(title, problems):
    """Makes the problems that the command line names, or all; the exit status."""
    arguments = read_arguments(title)
    known = {problem.name: problem for problem in problems}
    unknown = [name for name in arguments.problems if name not in known]
    if unknown:
        sys.exit('bench: no problem %s; --list shows them' % ', '.join(unknown))
    chosen = [known[name] for name in arguments.problems] or list(known.values())
    if arguments.list:
        for problem in chosen:
            print('%-4s %s (needs %s)' % (problem.name, problem.title, ', '.join(problem.needs)))
        return 0
    if os.geteuid():
        say('%s: recording needs root' % os.path.basename(sys.argv[0]))
        return 77
    counts = dict.fromkeys(('right', 'behind ready', 'wrong', 'skipped', 'failed'), 0)
    print('| problem | cause | came out | first finding |\n|---|---|---|---|', flush=True)
    for problem in chosen:
        verdict, sentence, tries = try_until_quiet(problem, arguments)
        counts[verdict] += 1
        cells = (problem.name + ' ' + problem.title, problem.cause, verdict + (', try %d' % tries if tries > 1 else ''), sentence)
        print('| ' + ' | '.join(cell.replace('|', '\\|') for cell in cells) + ' |', flush=True)
    print('\n' + ', '.join('%d %s' % (count, verdict) for verdict, count in counts.items() if count))
    return 1 if counts['wrong'] + counts['failed'] else 0

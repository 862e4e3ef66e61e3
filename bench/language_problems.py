"""The problems of bench/languages: servers in several languages whose cause of slowness is one of their own functions."""
import os
import shutil
import time

from service_bed import DATA, free_port
from service_problems import FPM, NGINX, Problem

PROBLEMS = []


def problem(name, title, cause, needs, words):
    """Registers a function that makes the problem and records it; it may return options of `lode mine`."""
    def register(function):
        PROBLEMS.append(Problem(name, title, cause, needs, words, function))
        return function
    return register


def ask(bed, port, clients, pause=0.0):
    for _ in range(clients):
        bed.python('ping.py', port, pause)
    time.sleep(1)


# ---- Python ----

@problem('y1', 'Python: a web server that sorts slowly', 'cheapest_first', ['python3', 'ab'], ['cheapest_first|render_page'])
def python_pages(bed):
    port = free_port()
    server = bed.python('http_pages.py', port)
    bed.await_port(port)
    bed.start('ab', '-q', '-c', 2, '-t', 60, '-n', 1000000, 'http://127.0.0.1:%d/' % port)
    time.sleep(0.5)
    bed.record(server)


@problem('y2', 'Python: a call that blocks an event loop', 'fetch_price', ['python3'], ['fetch_price'])
def python_loop(bed):
    port = free_port()
    server = bed.python('async_prices.py', port)
    bed.await_port(port)
    ask(bed, port, 3, 0.002)
    bed.record(server)


# ---- JavaScript ----

@problem('j1', 'Node: an expression that tries all ways', 'isMailAddress', ['node', 'python3'], ['isMailAddress'])
def node_expression(bed):
    port = free_port()
    server = bed.start('node', os.path.join(DATA, 'mail_check.js'), port)
    bed.await_port(port)
    ask(bed, port, 3, 0.002)
    bed.record(server)


# ---- Java ----

@problem('h1', 'Java: sorting under a monitor', 'sortNames, while register has the monitor', ['java', 'javac', 'python3'],
         ['sortNames|register'])
def java_registry(bed):
    port = free_port()
    bed.run('javac', '-d', bed.folder, os.path.join(DATA, 'Registry.java'))
    server = bed.start('java', '-cp', bed.folder, 'Registry', port)
    bed.await_port(port)
    ask(bed, port, 4)
    bed.record(server)


# ---- PHP ----

def start_php(bed, page):
    """php-fpm with two workers behind nginx, which serves this page: the processes, and the port."""
    names = {'folder': bed.folder, 'port': free_port(), 'fpm': free_port()}
    shutil.copy(os.path.join(DATA, page), bed.path('page.php'))
    os.mkdir(bed.path('sessions'))
    os.chmod(bed.path('sessions'), 0o777)
    pool = bed.start('php-fpm', '-d', 'session.save_path=' + bed.path('sessions'), '-y', bed.write('fpm.conf', FPM % names))
    forward = 'fastcgi_param REQUEST_METHOD GET;\n\t\t\tfastcgi_param HTTP_COOKIE $http_cookie;'
    config = (NGINX % names).replace('fastcgi_param REQUEST_METHOD GET;', forward)
    web = bed.start('nginx', '-c', bed.write('nginx.conf', config), '-e', bed.path('nginx.log'))
    for port in (names['fpm'], names['port']):
        bed.await_port(port)
    return pool, web, names['port']


@problem('q1', 'PHP: pages of one visitor wait for the session', 'ask_payment_service has the session', ['nginx', 'php-fpm', 'ab'],
         ['sess_one', 'ask_payment_service'])
def php_session(bed):
    pool, web, port = start_php(bed, 'session.php')
    bed.start('ab', '-q', '-c', 2, '-t', 60, '-n', 1000000, '-C', 'PHPSESSID=one', 'http://127.0.0.1:%d/' % port)
    time.sleep(0.5)
    bed.record(pool)


@problem('q2', 'PHP: a comparison that makes its keys anew', 'Catalogue::key', ['nginx', 'php-fpm', 'ab'],
         ['Catalogue::(key|sorted|\\{closure)'])
def php_catalogue(bed):
    pool, web, port = start_php(bed, 'catalogue.php')
    bed.start('ab', '-q', '-c', 2, '-t', 60, '-n', 1000000, 'http://127.0.0.1:%d/' % port)
    time.sleep(0.5)
    bed.record(pool)

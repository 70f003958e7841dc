"""What `.ci/monitoring` does besides starting servers: asks Zabbix and Prometheus itself, drives a load, compares."""

import csv
import http.client
import json
import os
import random
import socket
import sys
import threading
import time
import urllib.parse
import urllib.request

HOSTS = ["sut", "sut2"]
ITEMS = {  # the kinds of values: 0 float, 1 text, 3 unsigned
    "system.cpu.util": 0,
    "system.cpu.num": 3,
    "vm.memory.size[available]": 3,
    "agent.version": 1,
}


def call(api, method, parameters, token=None):
    asked = {"jsonrpc": "2.0", "method": method, "params": parameters, "id": 1}
    if token:
        asked["auth"] = token
    request = urllib.request.Request(api, json.dumps(asked).encode(), {"Content-Type": "application/json-rpc"})
    answer = json.load(urllib.request.urlopen(request))
    if "result" not in answer:
        raise SystemExit(f"{method}: {answer}")
    return answer["result"]


def asked(api, method, parameters):
    return call(api, method, parameters, os.environ["PERFPIPE_ZABBIX_TOKEN"])


def port():
    while True:
        number = random.randrange(20000, 32768)
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", number)):
                return print(number)


def version(api):
    print(call(api, "apiinfo.version", {}))


def watch_hosts(api, port):
    """Has Zabbix read the agent each second, as two hosts, and prints a token of its API."""
    session = call(api, "user.login", {"username": "Admin", "password": "zabbix"})
    group = call(api, "hostgroup.create", {"name": "trial"}, session)["groupids"][0]
    for host in HOSTS:
        interface = {"type": 1, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "", "port": port}
        made = {"host": host, "groups": [{"groupid": group}], "interfaces": [interface]}
        hostid = call(api, "host.create", made, session)["hostids"][0]
        interfaces = call(api, "hostinterface.get", {"hostids": hostid}, session)
        for key, kind in ITEMS.items():
            item = {"hostid": hostid, "interfaceid": interfaces[0]["interfaceid"], "name": f"{key} of {host}",
                    "key_": key, "type": 0, "value_type": kind, "delay": "1s"}
            call(api, "item.create", item, session)
    token = call(api, "token.create", {"name": "trial"}, session)["tokenids"][0]
    print(call(api, "token.generate", [token], session)[0]["token"])


def expired(api):
    """Prints a token of the API that has expired."""
    session = call(api, "user.login", {"username": "Admin", "password": "zabbix"})
    made = {"name": "late", "expires_at": int(time.time()) - 60}
    token = call(api, "token.create", made, session)["tokenids"][0]
    print(call(api, "token.generate", [token], session)[0]["token"])


def watched(api):
    """Fails until each item has been read."""
    items = asked(api, "item.get", {"host": HOSTS[-1], "output": ["lastclock"]})
    sys.exit(any(item["lastclock"] == "0" for item in items))


def load(port, seconds, log):
    """Four clients that ask one after another; the log is that of JMeter."""
    rows, end = [], time.time() + float(seconds)

    def client(number):
        while time.time() < end:
            begin = time.time()
            connection = http.client.HTTPConnection("127.0.0.1", int(port))
            connection.request("GET", "/")
            status = connection.getresponse().status
            rows.append((int(begin * 1000), int((time.time() - begin) * 1000), "Get", status, status == 200, 4))
            connection.close()
            time.sleep(0.002 * number)

    clients = [threading.Thread(target=client, args=(number,)) for number in range(1, 5)]
    [client.start() for client in clients]
    [client.join() for client in clients]
    with open(log, "w") as file:
        file.write("timeStamp,elapsed,label,responseCode,success,allThreads\n")
        for row in sorted(rows):
            file.write(",".join(map(str, row)).replace("True", "true").replace("False", "false") + "\n")


def window(log):
    """The first and the last second of which readings are asked for: those of the run, and the minute before it."""
    times = [int(row["timeStamp"]) for row in csv.DictReader(open(log))]
    return min(times) // 1000 - 60, max(times) // 1000


def entries(api, item, log):
    first, last = window(log)
    found = asked(api, "history.get", {"itemids": [item], "history": 0, "time_from": first, "time_till": last,
                                       "output": "extend"})
    return sorted(found, key=lambda entry: (int(entry["clock"]), int(entry["ns"])))


def history(api, item, log):
    for entry in entries(api, item, log):
        print(f"{entry['clock']},{entry['value']}")


def answers(server, query):
    """Fails until a query gives something."""
    asked = urllib.parse.urlencode({"query": query})
    found = json.load(urllib.request.urlopen(f"{server}/api/v1/query?{asked}"))
    sys.exit(not found["data"]["result"])


def range_of(server, query, log):
    first, last = window(log)
    asked = urllib.parse.urlencode({"query": query, "start": first, "end": last, "step": 1})
    return json.load(urllib.request.urlopen(f"{server}/api/v1/query_range?{asked}"))


def query(server, query, log):
    for at, value in range_of(server, query, log)["data"]["result"][0]["values"]:
        print(f"{at},{value}")


def same(stored, own, cores, log):
    """Compares what is stored with the source's own readings of that time, which must cover the run."""
    first, last = window(log)
    rows = [(int(row["clock"]), float(row["value"])) for row in csv.DictReader(open(stored))]
    lines = (line.strip().split(",") for line in open(own))
    own = {int(float(clock)): float(value) * float(cores) for clock, value in lines}
    own = {clock: value for clock, value in own.items() if first <= clock <= last}
    if dict(rows) != own:
        differ = sorted(set(rows) ^ set(own.items()))
        raise SystemExit(f"{len(rows)} stored and {len(own)} own readings differ: {differ[:10]}")
    if len(own) < 0.9 * (last - first - 60):
        raise SystemExit(f"there are {len(own)} readings of {last - first - 60} seconds")
    print(f"{len(rows)} stored readings of {len(own)} seconds are the source's own")


def sums(cpu, series):
    """Checks that the readings of the CPU are the sums of those of the hosts, wherever all have one of the same second."""
    by_clock = {}
    for row in csv.DictReader(open(series)):
        by_clock.setdefault(int(row["clock"]), []).append(float(row["value"]))
    whole = {clock: sum(values) for clock, values in by_clock.items() if len(values) == len(HOSTS)}
    stored = {int(row["clock"]): float(row["value"]) for row in csv.DictReader(open(cpu))}
    wrong = [clock for clock, value in whole.items() if abs(stored.get(clock, -1) - value) > 1e-6]
    if wrong or len(whole) < 20:
        raise SystemExit(f"of {len(whole)} seconds with all readings, these have another sum: {wrong[:10]}")
    print(f"{len(whole)} stored readings are the sums of those of {len(HOSTS)} hosts")


def record_zabbix(api, item, log, folder):
    """Keeps what the API answers, of the last seconds of the run."""
    keys = ["itemid", "name", "key_", "value_type", "units", "delay", "lastclock"]
    of = {"output": keys, "selectHosts": ["host"]}
    kept = {
        "apiinfo.version": call(api, "apiinfo.version", {}),
        "item.get": asked(api, "item.get", {"itemids": [item], **of}),
        "system.cpu.num": asked(api, "item.get", {"host": HOSTS[0], "search": {"key_": "system.cpu.num"},
                                                  "output": ["lastvalue"]}),
        "history.get": entries(api, item, log)[-20:],
    }
    write(folder, "zabbix.json", kept)


def record_prometheus(server, query, log, folder):
    kept = range_of(server, query, log)
    for series in kept["data"]["result"]:
        series["values"] = series["values"][-20:]
    write(folder, "prometheus.json", kept)


def write(folder, name, kept):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "w") as file:
        # A reading a line.
        file.write(json.dumps(kept).replace("}, {", "},\n{").replace("], [", "],\n[") + "\n")


if __name__ == "__main__":
    globals()[sys.argv[1].replace("-", "_")](*sys.argv[2:])

import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { FramePageShape } from '../../../src/tether/tether-shapes.ts'
import { random, type Random } from '../../support/host/random.ts'
import {
  CONVERSATIONS,
  INSTANCE,
  PagePoller,
  Sender,
  SharedNews,
  StreamPoller,
  type Poller,
} from './daemon-kill-clients.ts'
import { isContinued } from '../support/continued-judge.ts'
import { daemonOffences, type DaemonEvidence } from './daemon-kill-judge.ts'
import { KilledServer, processesOf } from './daemon-kill-server.ts'
import { instanceRecords } from './instance-records.ts'

export interface DaemonKills {
  readonly violations: readonly string[]
  readonly evidence: DaemonEvidence
  readonly more: Readonly<Record<string, number | string>>
}

export type Victim = 'server' | 'guest'

/** Four pollers and a sender use one Instance of a real server while it, or its guest, is killed at random moments. */
export async function runDaemonKills(
  parent: string,
  victim: Victim,
  rounds: number,
  seed: number,
): Promise<DaemonKills> {
  const root = await mkdtemp(join(parent, 'daemon-kill-'))
  const scene = await DaemonScene.open(root, random(seed))
  try {
    await (victim === 'server' ? scene.killServers(rounds) : scene.killGuests(rounds))
    await scene.finish()
  } finally {
    await scene.close()
  }
  const { evidence, damage } = await evidenceIn(root, scene)
  const offences = [...scene.news.complaints, ...damage, ...daemonOffences(evidence)]
  if (offences.length === 0) await rm(root, { recursive: true })
  const violations = offences.map((text) => `${root}: ${text}`)
  return { violations, evidence, more: scene.figures(evidence) }
}

/** What ends the wait before a kill: a time, or something that a client sees, such as a type of frame. */
const SIGNS = [
  'sending',
  'accepted',
  'event.ack',
  'status.presence',
  'assistant.delta',
  'assistant.done',
] as const
const MOST_WAIT_MS = 6_000
/** All messages must have ended by then. */
const MOST_DRAIN_MS = 120_000
/** Crashes in a row that the server handles alone: five within two minutes stop an Instance. */
const MOST_ALONE = 2

class DaemonScene {
  readonly server: KilledServer
  readonly news = new SharedNews()
  readonly pollers: readonly Poller[]
  readonly sender: Sender
  readonly #chance: Random
  readonly #stopSending = new AbortController()
  readonly #stopReading = new AbortController()
  readonly #moments = new Map<string, number>()
  #sending: Promise<void> = Promise.resolve()
  #reading: Promise<unknown> = Promise.resolve()
  #startMs = 0

  private constructor(root: string, chance: Random) {
    this.#chance = chance
    this.server = new KilledServer(root)
    const { server, news } = this
    this.sender = new Sender(server, news, random(chance.below(2 ** 31)))
    const never = () => false
    const leaving = random(chance.below(2 ** 31))
    this.pollers = [
      new PagePoller(server, news, 200),
      new PagePoller(server, news, 3),
      new StreamPoller(server, news, { resume: 'header', leaves: never }),
      new StreamPoller(server, news, { resume: 'query', leaves: () => leaving.below(40) === 0 }),
    ]
  }

  /** A server with one Instance, whose clients have begun. */
  static async open(root: string, chance: Random): Promise<DaemonScene> {
    const scene = new DaemonScene(root, chance)
    const { server, sender, pollers } = scene
    await mkdir(server.workspace, { mode: 0o700 })
    const began = performance.now()
    await server.start()
    if (!(await server.ready())) throw new Error(`the server did not start: ${server.complaint}`)
    scene.#startMs = performance.now() - began
    const body = { handle: INSTANCE, workspace: server.workspace }
    const created = await server.call('POST', '/instances', { body })
    if (created?.status !== 201) throw new Error(`no Instance: ${JSON.stringify(created)}`)
    scene.#sending = sender.run(scene.#stopSending.signal)
    scene.#reading = Promise.all(pollers.map((one) => one.run(scene.#stopReading.signal)))
    return scene
  }

  async killServers(rounds: number): Promise<void> {
    for (let round = 0; round < rounds && this.news.complaints.length === 0; round++) {
      const isEarly = this.#chance.below(4) === 0
      if (isEarly) await this.#wait('starting', this.#chance.below(this.#startMs * 1.5))
      else if (await this.server.ready()) await this.#moment()
      else this.#notStarted()
      await this.server.end('SIGKILL')
      await this.server.start()
    }
  }

  async killGuests(rounds: number): Promise<void> {
    let alone = 0
    for (let round = 0; round < rounds && this.news.complaints.length === 0; round++) {
      const isEarly = this.#chance.below(4) === 0
      if (isEarly) await this.#wait('starting', this.#chance.below(300))
      else await this.#moment()
      const guests = await this.#guests()
      if (!this.server.isAlive)
        this.news.complaints.push(`the server exited: ${this.server.complaint}`)
      if (guests.length > 0) kill(this.#chance.pick(guests))
      const isAlone = alone < MOST_ALONE && this.#chance.below(3) === 0
      alone = isAlone ? alone + 1 : 0
      if (!isAlone) await this.server.call('POST', `/instances/${INSTANCE}/start`)
    }
  }

  /** Lets every message end and every poller read everything, and stops the server. */
  async finish(): Promise<void> {
    if (!(await this.server.ready())) return this.#notStarted()
    await this.server.call('POST', `/instances/${INSTANCE}/start`)
    this.#stopSending.abort()
    await this.#sending
    const until = performance.now() + MOST_DRAIN_MS
    while (this.sender.unended.length > 0 && performance.now() < until) await sleep(50)
    for (const name of this.sender.unended) this.news.complaints.push(`${name} has not ended`)
    while (performance.now() < until && !(await this.#haveAll())) await sleep(50)
  }

  async close(): Promise<void> {
    this.#stopSending.abort()
    this.#stopReading.abort()
    await this.#reading
    await this.server.end('SIGTERM')
    const left = processesOf(this.server.home)
    if (left.length > 0) this.news.complaints.push(`${left.length} processes are left`)
  }

  figures({ stored, accepted, events }: DaemonEvidence): Record<string, number | string> {
    const { lost, repeated } = this.sender
    const ends = events.flatMap((one) => (one.type === 'turn_ended' ? [one.data.status] : []))
    return {
      messages: accepted.size,
      frames: stored.length,
      seen: this.pollers.reduce((sum, { seen }) => sum + seen.length, 0),
      'answers lost': lost,
      'sent again': repeated,
      resent: events.filter(isContinued).length,
      'Turns completed': ends.filter((status) => status === 'completed').length,
      killed: [...this.#moments]
        .map(([name, count]) => `${name} ${count}`)
        .toSorted()
        .join(' '),
    }
  }

  /** A moment at which something happens, or any other. Some come only after a message has ended. */
  async #moment(): Promise<void> {
    if (this.#chance.below(4) === 0) await this.news.next('assistant.done', MOST_WAIT_MS)
    if (this.#chance.below(3) === 0) return this.#wait('any', this.#chance.below(1_000))
    const sign = this.#chance.pick(SIGNS)
    const happened = await this.news.next(sign, MOST_WAIT_MS)
    const name = happened ? sign : 'any'
    await this.#wait(name, this.#chance.below(sign === 'sending' ? 4 : 15))
  }

  #notStarted(): void {
    this.news.complaints.push(`the server did not start: ${this.server.complaint}`)
  }

  async #wait(moment: string, ms: number): Promise<void> {
    this.#moments.set(moment, (this.#moments.get(moment) ?? 0) + 1)
    await sleep(ms)
  }

  /** Its processes, as soon as there are any. */
  async #guests(): Promise<number[]> {
    for (let looks = 0; looks < 400; looks++) {
      const found = this.server.guests()
      if (found.length > 0 || !this.server.isAlive) return found
      await sleep(10)
    }
    this.news.complaints.push('no guest was started within four seconds')
    return []
  }

  async #haveAll(): Promise<boolean> {
    const path = `/instances/${INSTANCE}/tether/poll?before_seq=${Number.MAX_SAFE_INTEGER}&limit=1`
    const answer = await this.server.call('GET', path)
    if (answer?.status !== 200) return false
    const newest = FramePageShape.parse(answer.body).frames[0]?.seq ?? 0
    return this.pollers.every(({ seen }) => (seen.at(-1)?.seq ?? 0) >= newest)
  }
}

/** It may have ended by itself. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

/** What is on the disk, and what is wrong with it by itself. */
async function evidenceIn(
  root: string,
  { server, pollers, sender }: DaemonScene,
): Promise<{ readonly evidence: DaemonEvidence; readonly damage: readonly string[] }> {
  const damage: string[] = []
  const { stored, events } = await instanceRecords(server, CONVERSATIONS.length, damage)
  const text = await readFile(join(server.workspace, 'effects.txt'), 'utf8').catch(() => '')
  const unended = await readdir(join(server.home, 'instances/unended'))
  if (unended.length > 0) damage.push('an Instance is marked as having messages that did not end')
  const evidence = {
    pollers: pollers.map(({ seen }) => seen),
    stored,
    accepted: sender.accepted,
    events,
    effects: text.split('\n').filter((line) => line !== ''),
  }
  return { evidence, damage }
}

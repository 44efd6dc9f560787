/**
 * The script of the page. Exchanges the code in the fragment for the token, keeps the token for this tab only, and lists the
 * Sessions of a folder. Everything from outside becomes text: the script never writes HTML.
 */
export const PAGE_SCRIPT = `'use strict'
const KEY = 'hawser.token'
const PLACE = 'hawser.folder'
const at = (id) => document.getElementById(id)

async function begin() {
  const given = new URLSearchParams(location.hash.slice(1))
  // The code leaves the address and the history of the browser at once.
  if (location.hash !== '') history.replaceState(null, '', '/')
  const code = given.get('code')
  if (given.get('folder')) sessionStorage.setItem(PLACE, given.get('folder'))
  if (code && !(await exchange(code))) return
  await show()
}

async function exchange(code) {
  const answer = await ask('/page/token', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  })
  if (answer.ok) sessionStorage.setItem(KEY, answer.token)
  else say(answer.error.message)
  return answer.ok
}

async function show() {
  const isIn = sessionStorage.getItem(KEY) !== null
  at('signed-in').hidden = !isIn
  at('sign-out').hidden = !isIn
  at('signed-out').hidden = isIn
  at('about').open = !isIn
  const folder = sessionStorage.getItem(PLACE) ?? ''
  at('folder').value = folder
  if (isIn && folder !== '') await list(folder)
}

async function list(folder) {
  say('')
  const answer = await ask('/api/harness/session/list?projectRoot=' + encodeURIComponent(folder), {
    headers: { authorization: 'Bearer ' + sessionStorage.getItem(KEY) },
  })
  if (!answer.ok && answer.error.type === 'UNAUTHORIZED') return signOut()
  at('sessions').hidden = !answer.ok || answer.sessions.length === 0
  if (!answer.ok) return say(answer.error.message)
  sessionStorage.setItem(PLACE, folder)
  if (answer.sessions.length === 0) say('No Sessions in ' + folder + '.')
  at('sessions').tBodies[0].replaceChildren(...answer.sessions.map(row))
}

function row(session) {
  const changed = session.updatedAt ? new Date(session.updatedAt).toLocaleString() : ''
  const state = session.damage ? 'damaged' : session.turnOpen ? 'running' : session.foreign ? 'read-only' : 'idle'
  const cells = [session.title || session.sessionId, session.turns, session.model, changed, state]
  const line = document.createElement('tr')
  line.title = session.sessionId
  for (const text of cells) line.insertCell().textContent = text
  return line
}

function signOut() {
  sessionStorage.removeItem(KEY)
  return show()
}

async function ask(path, options) {
  try {
    return await (await fetch(path, { cache: 'no-store', credentials: 'omit', ...options })).json()
  } catch {
    return { ok: false, error: { message: 'The server does not answer. To start it: hawser up --open' } }
  }
}

function say(text) {
  at('message').textContent = text
  at('message').hidden = text === ''
}

at('choose').addEventListener('submit', (event) => {
  event.preventDefault()
  void list(at('folder').value)
})
at('sign-out').addEventListener('click', () => void signOut())
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) void show()
})
addEventListener('hashchange', () => void begin())
void begin()
`

import { Store } from './store.ts'

/** The address of the page. A Session has one of its own, so back, forward and bookmarks work. */
export const address = new Store(location.pathname)

addEventListener('popstate', () => address.set(location.pathname))

export function navigate(path: string): void {
  if (path !== location.pathname) history.pushState(null, '', path)
  address.set(path)
}

export function sessionPath(id: string): string {
  return `/s/${id}`
}

export function sessionOf(path: string): string | undefined {
  return /^\/s\/(ses_[0-9a-z]+)$/.exec(path)?.[1]
}

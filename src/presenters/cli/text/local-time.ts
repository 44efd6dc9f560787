/** A recorded time in the time zone of the person, to the minute; `-` if there is none. Pure but for the time zone. */
export function localTime(ts: string): string {
  const time = new Date(ts)
  if (ts === '' || Number.isNaN(time.getTime())) return '-'
  const day = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join('-')
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}`
}

function two(part: number): string {
  return String(part).padStart(2, '0')
}

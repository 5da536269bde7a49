import { colourOf } from '../name.ts';

/** The member's colour in the tab strip, with a crown on the leader. */
export function tabIcon(id: string, leads: boolean): string {
  const crown = leads ? "<path d='M7 22 5 10l7 5 4-8 4 8 7-5-2 12z' fill='white'/>" : '';
  const disc = `<circle cx='16' cy='16' r='15' fill='${colourOf(id)}'/>`;
  const image = `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'>${disc}${crown}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(image)}`;
}
